"""Models are made ready without touching the caller's, and task files find their model again."""

import copy
import sys
import types
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers import blobs, features_model, image_model
from helpers_encoders import LENGTH, picture, write_tiny
from helpers_photos import small_regression

from samovar import FewShotClassifier
from samovar.classifier.loading import image_conversion, load_fitted, ready_model, stored_name
from samovar.classifier.task_file import read_task, write_task
from samovar.encoders.encoder_facts import EncoderFacts, open_encoder
from samovar.encoders.onnx_encoder import OnnxEncoder
from samovar.errors import ModelError

CPU = torch.device("cpu")


def test_the_callers_model_is_neither_moved_nor_changed():
    mine = image_model()
    mine.model.train()
    before = copy.deepcopy(mine.model.state_dict())
    strides = [parameter.stride() for parameter in mine.model.parameters()]
    ready = ready_model(mine, CPU)
    assert not ready.model.training
    assert mine.model.training
    assert [parameter.stride() for parameter in mine.model.parameters()] == strides
    with torch.no_grad():
        for parameter in ready.model.parameters():
            parameter.add_(1)
    for name, value in mine.model.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_a_copy_has_the_identity_of_the_original():
    mine = image_model()
    assert ready_model(mine, CPU).identity == mine.identity


def test_models_are_stored_by_name_if_shipped_and_by_whole_path_if_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "glyphs").mkdir()
    assert stored_name("glyphs") == "glyphs"
    assert stored_name("run") == str(tmp_path / "run")
    assert stored_name("owner/model") == "owner/model"
    assert stored_name(features_model(2)) == ""


def test_a_task_of_a_model_in_memory_needs_the_model_again(tmp_path):
    features, labels = blobs()
    model = features_model(5)
    path = FewShotClassifier(model).fit(features, labels).save(tmp_path / "t.safetensors")
    with pytest.raises(ModelError, match="does not say where its model is"):
        load_fitted(path, None, CPU)
    fitted, info = load_fitted(path, model, CPU)
    assert fitted.classes.tolist() == [0, 1, 2, 3]
    assert info.identity == model.identity


def test_a_task_file_fetches_nothing_from_the_hub_without_the_users_word(tmp_path, monkeypatch):
    """The model is fetched when the user names it; what was fetched before is used."""
    features, labels = blobs()
    model = features_model(5)
    folder = model.save_pretrained(tmp_path / "model")
    path = FewShotClassifier(model).fit(features, labels).save(tmp_path / "t.safetensors")
    task, info = read_task(path)
    write_task(path, task, replace(info, model="somebody/model"))
    asked = []
    fetched = []

    def snapshot_download(name, allow_patterns, local_files_only):
        asked.append((name, local_files_only))
        if local_files_only and not fetched:
            raise FileNotFoundError(name)
        fetched.append(name)
        return str(folder)

    hub = types.SimpleNamespace(snapshot_download=snapshot_download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    with pytest.raises(ModelError, match=r"somebody/model, which is not here.*--model"):
        load_fitted(path, None, CPU)
    assert asked == [("somebody/model", True)]
    load_fitted(path, "somebody/model", CPU)
    assert asked[1:] == [("somebody/model", False)]
    load_fitted(path, None, CPU)
    assert asked[2:] == [("somebody/model", True)]


def test_a_task_of_another_model_is_refused_and_of_a_former_shipped_one_with_the_remedy(tmp_path):
    features, labels = blobs()
    path = FewShotClassifier(features_model(5)).fit(features, labels).save(tmp_path / "t")
    with pytest.raises(ModelError, match="another model than the one that was given"):
        load_fitted(path, image_model(), CPU)
    task, info = read_task(path)
    write_task(path, task, replace(info, model="glyphs"))
    with pytest.raises(ModelError, match=r"than the `glyphs` of this version\. Fit it"):
        load_fitted(path, None, CPU)


def test_sums_that_do_not_fit_the_model_are_refused(tmp_path):
    features, labels = blobs()
    model = features_model(5)
    path = FewShotClassifier(model).fit(features, labels).save(tmp_path / "t.safetensors")
    task, info = read_task(path)
    narrow = replace(task, totals=task.totals[:, :4].contiguous())
    for other in (narrow, replace(task, conditioned=task.totals.clone())):
        write_task(path, other, info)
        with pytest.raises(ModelError, match="does not fit the model"):
            load_fitted(path, model, CPU)


def test_models_of_feature_vectors_take_no_image_files():
    assert image_conversion(image_model(), "mine").size == 12
    with pytest.raises(ModelError, match="The model mine takes feature vectors"):
        image_conversion(features_model(2), "mine")


def test_a_fitted_classifier_keeps_its_model_whatever_becomes_of_the_callers():
    features, labels = blobs()
    model = features_model(5, method="samovar", classifier="linear")
    classifier = FewShotClassifier(model, samples=8).fit(features, labels)
    before = classifier.predict_proba(features)
    with torch.no_grad():
        for parameter in model.model.parameters():
            parameter.mul_(2)
    np.testing.assert_array_equal(classifier.predict_proba(features), before)


def test_a_task_finds_the_encoder_that_was_named_and_where_it_has_moved(tmp_path):
    """A network that was trained on the vectors of a file, and the closed form on it."""
    file = write_tiny(tmp_path / "tiny.onnx")
    images = [picture(seed) for seed in range(6)]
    labels = ["a", "b"] * 3
    trained = replace(features_model(LENGTH), encoder=EncoderFacts.of(OnnxEncoder(file)))
    for number, (model, encoder) in enumerate(((trained, None), (small_regression(), file))):
        folder = model.save_pretrained(tmp_path / f"model {number}")
        classifier = FewShotClassifier(folder, encoder=encoder).fit(images, labels)
        path = classifier.save(tmp_path / f"{number}.safetensors")
        expected = classifier.predict_proba(images)
        fitted, info = load_fitted(path, None, CPU)
        assert (info.encoder is None) == (encoder is None)
        assert fitted.saved.open_encoder().length == LENGTH
        np.testing.assert_allclose(FewShotClassifier.load(path).predict_proba(images), expected)
        moved = file.rename(tmp_path / f"moved {number}.onnx")
        open_encoder.cache_clear()  # as in a new process
        with pytest.raises(ModelError, match=r"tiny\.onnx.*--encoder"):
            FewShotClassifier.load(path).predict_proba(images)
        loaded = FewShotClassifier.load(path, encoder=moved)
        np.testing.assert_allclose(loaded.predict_proba(images), expected)
        again = FewShotClassifier.load(loaded.save(tmp_path / "again.safetensors"))
        np.testing.assert_allclose(again.predict_proba(images), expected)
        moved.rename(file)


def test_classifiers_of_one_model_share_nothing_that_can_be_changed():
    """The model is kept for the next fit; each classifier has a copy."""
    cpu = torch.device("cpu")
    first = ready_model("cifar_fs", cpu)
    identity = first.identity
    with torch.no_grad():
        next(first.model.parameters()).zero_()
    second = ready_model("cifar_fs", cpu)
    assert second.model is not first.model
    assert second.identity == identity
