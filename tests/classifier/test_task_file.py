"""A task file answers as before, can grow, and is refused where it is damaged."""

import os
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers import blobs, features_model
from helpers_photos import LENGTH, clouds, small_regression
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save_file

from samovar import FewShotClassifier
from samovar.classifier.support_names import SupportNames
from samovar.classifier.task_file import read_task, write_task
from samovar.encoders.encoder_facts import EncoderFacts
from samovar.encoders.preprocessing import clip
from samovar.errors import ModelError, SettingsError


def test_saved_tasks_answer_as_before_and_can_grow(tmp_path):
    features, labels = blobs()
    names = np.array(["a\nb", "[bold]x[/]", "<b>", "ü"])[labels]
    model = features_model(5, method="samovar", classifier="linear")
    model.save_pretrained(tmp_path / "model")
    classifier = FewShotClassifier(tmp_path / "model", samples=16, seed=3).fit(
        features[:-6], names[:-6]
    )
    path = classifier.save(tmp_path / "task.safetensors")
    loaded = FewShotClassifier.load(path)
    assert loaded.get_params() == classifier.get_params() | {
        "model": str((tmp_path / "model").resolve())
    }
    np.testing.assert_array_equal(
        loaded.predict_proba(features), classifier.predict_proba(features)
    )
    loaded.partial_fit(features[-6:], names[-6:])
    whole = FewShotClassifier(model, samples=16, seed=3).fit(features, names)
    np.testing.assert_allclose(
        loaded.predict_proba(features), whole.predict_proba(features), atol=1e-5
    )
    assert path.stat().st_size < 4000, "sums and names only"
    other = features_model(5, method="samovar", classifier="linear", alpha=2.0)
    with pytest.raises(ModelError, match="another model"):
        FewShotClassifier.load(path, other)
    with pytest.raises(ModelError, match="cannot be stored"):
        FewShotClassifier(features_model(5)).fit(features, [(i,) for i in labels]).save(
            tmp_path / "x.safetensors"
        )


@given(st.integers(0, 10_000), st.integers(0, 255))
@settings(max_examples=60)
def test_damaged_task_files_are_refused_or_harmless(tmp_path_factory, position, value):
    folder = tmp_path_factory.mktemp("task")
    features, labels = blobs(classes=2)
    model = features_model(5)
    path = FewShotClassifier(model).fit(features, labels).save(folder / "task.safetensors")
    content = bytearray(path.read_bytes())
    content[position % len(content)] = value
    path.write_bytes(content)
    try:
        loaded = FewShotClassifier.load(path, model)
        assert np.isfinite(loaded.predict_proba(features)).all()
    except (ModelError, SettingsError):
        pass


def test_tampered_task_files(tmp_path):
    for content in (
        b"",
        b"\xff" * 8,
        b"\xff\xff\xff\xff\xff\xff\xff\x7f{}",
        b"PK\x03\x04" + b"0" * 100,
    ):
        (tmp_path / "t.safetensors").write_bytes(content)
        with pytest.raises(ModelError, match="not a task file"):
            FewShotClassifier.load(tmp_path / "t.safetensors")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("parameters", {"samples": 4, "reject": "x", "reject_label": "none", "seed": 0}),
        ("parameters", {"samples": 4, "reject": None, "reject_label": "none", "seed": None}),
        ("parameters", {"samples": 4, "reject": None, "reject_label": [1, 2], "seed": 0}),
        ("parameters", {"samples": 1_000_000, "reject": None, "reject_label": "", "seed": 0}),
        ("parameters", {"samples": True, "reject": None, "reject_label": "", "seed": 0}),
        ("parameters", {"samples": 4, "reject": float("nan"), "reject_label": "", "seed": 0}),
        ("parameters", {"samples": 4, "reject": None, "reject_label": "", "seed": 10**400}),
        ("parameters", {"samples": 4, "reject": None, "reject_label": ""}),
        ("leave_one_out", {"images": 3, "accuracy": float("nan"), "rejected": None}),
        ("leave_one_out", {"images": 10**400, "accuracy": 1, "rejected": None}),
        ("spread", float("inf")),
        ("spread", 10**400),
        ("model", 3),
        ("identity", None),
        ("model", "nul\0byte"),
        ("leave_one_out", "x"),
        ("leave_one_out", {"images": 3}),
        ("spread", -0.1),
        ("temperature", [0.5, 0.5]),
        ("temperature", [2.0] + [0.0] * 12),
        ("temperature", [0.5] * 13),
        ("spread", [0.1]),
        ("model", "m" * 5000),
        ("totals", 1e300),
        ("totals", 1e30),
        ("totals", float("nan")),
        ("counts", 0),
        ("classes", (0, 0)),
    ],
)
def test_task_files_with_other_contents_are_refused(tmp_path, field, value):
    features, labels = blobs(classes=2)
    model = features_model(5)
    model.save_pretrained(tmp_path / "model")
    classifier = FewShotClassifier(tmp_path / "model").fit(features, labels)
    task, info = read_task(classifier.save(tmp_path / "task.safetensors"))
    if field in ("totals", "counts"):
        task = replace(task, **{field: getattr(task, field) * value})
    elif field == "classes":
        task = replace(task, classes=value)
    else:
        info = replace(info, **{field: value})
    with pytest.raises((ModelError, SettingsError)):  # noqa: PT012 (some when they are written)
        write_task(tmp_path / "task.safetensors", task, info)
        FewShotClassifier.load(tmp_path / "task.safetensors")


@pytest.mark.parametrize("label", [10**400, float("nan"), float("inf"), 2**63])
def test_labels_that_could_not_be_read_again_are_refused(tmp_path, label):
    features, labels = blobs(classes=2)
    classifier = FewShotClassifier(features_model(5)).fit(features, labels)
    task, info = read_task(classifier.save(tmp_path / "task.safetensors"))
    with pytest.raises(ModelError, match="cannot be stored"):
        write_task(tmp_path / "other.safetensors", replace(task, classes=(0, label)), info)
    assert not (tmp_path / "other.safetensors").exists()


def test_a_task_that_predict_would_refuse_is_not_written(tmp_path):
    features, labels = blobs(classes=2)
    with pytest.raises(ModelError, match="not plausible numbers"):
        FewShotClassifier(features_model(5)).fit(features * 1e30, labels).save(tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_more_names_than_can_be_read_again_are_not_written(tmp_path):
    features, labels = blobs(classes=2)
    classifier = FewShotClassifier(features_model(5)).fit(features, labels)
    task, info = read_task(classifier.save(tmp_path / "t"))
    names = ("x" * 4000,) * 13_000
    support = SupportNames(names, ("a",) * len(names), ("0" * 16,) * len(names))
    with pytest.raises(ModelError, match=r"at most 50,000,000 can be stored. Fit it to fewer"):
        write_task(tmp_path / "other", task, replace(info, support=support))
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        ({}, "has no tensor 'totals'"),
        ({"totals": torch.zeros(2, 5, dtype=torch.float64)}, "has no tensor 'counts'"),
        ({"evil": torch.zeros(1)}, "tensors that no task has"),
        ({"vectors": torch.zeros(2, 5)}, "has no tensor|another kind of task"),
    ],
)
def test_other_tensors_are_refused(tmp_path, tensors, words):
    features, labels = blobs(classes=2)
    path = FewShotClassifier(features_model(5)).fit(features, labels).save(tmp_path / "t")
    with safe_open(path, "pt") as file:
        metadata = file.metadata()
    save_file(tensors, path, metadata)
    with pytest.raises(ModelError, match=words):
        read_task(path)


@pytest.mark.parametrize("head", ["", "[]", "{}", "[" * 10**5, '{"format": 1}'])
def test_headers_of_other_contents_are_refused(tmp_path, head):
    save_file({"counts": torch.zeros(1)}, tmp_path / "t", {"samovar": head})
    with pytest.raises(ModelError, match=r"not a task file that can be read|has format"):
        read_task(tmp_path / "t")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "t")
    with pytest.raises(ModelError, match="not a task file that can be read"):
        read_task(tmp_path / "t")


def test_parameters_may_be_numpys_and_what_cannot_be_stored_is_refused(tmp_path):
    features, labels = blobs(classes=2)
    model = features_model(5)
    numbers = {"samples": np.int64(16), "seed": np.int32(1), "reject_label": np.int64(-1)}
    path = (
        FewShotClassifier(model, **numbers)
        .fit(features, labels)
        .save(tmp_path / "task.safetensors")
    )
    loaded = FewShotClassifier.load(path, model)
    assert (loaded.samples, loaded.seed, loaded.reject_label) == (16, 1, -1)
    with pytest.raises(ModelError, match="cannot be stored"):
        FewShotClassifier(model, reject_label=("x",)).fit(features, labels).save(
            tmp_path / "other.safetensors"
        )


def test_an_encoder_that_the_user_has_named_is_remembered_and_no_other(tmp_path):
    path = tmp_path / "t.safetensors"
    features, labels = blobs()
    FewShotClassifier(features_model(5)).fit(features, labels).save(path)
    task, info = read_task(path)
    assert info.encoder is None
    plain = path.read_bytes()
    assert b"encoder" not in plain, "files are those of earlier versions"
    named = replace(info, encoder=EncoderFacts("clip.onnx", "1" * 64, 5, clip()))
    write_task(path, task, named)
    assert read_task(path)[1] == named
    write_task(path, task, info)
    assert path.read_bytes() == plain
    hostile = replace(named, encoder=replace(named.encoder, length=-1))
    write_task(path, task, hostile)
    with pytest.raises(ModelError, match="not a task file that can be read"):
        read_task(path)


@pytest.mark.parametrize(("stored", "width"), [(np.float16, 2), (np.float32, 4)])
def test_vectors_are_kept_in_the_smallest_form_that_loses_nothing(stored, width, tmp_path):
    vectors, labels = clouds()
    vectors = vectors.astype(stored).astype(np.float32)
    model = small_regression()
    classifier = FewShotClassifier(model).fit(vectors[:-4], labels[:-4])
    path = classifier.save(tmp_path / "task.safetensors")
    size = width * vectors[:-4].size
    assert size < path.stat().st_size < size + 1500
    assert vectors.shape[1] == LENGTH
    loaded = FewShotClassifier.load(path, model)
    np.testing.assert_array_equal(loaded.predict_proba(vectors), classifier.predict_proba(vectors))
    whole = FewShotClassifier(model).fit(vectors, labels)
    loaded.partial_fit(vectors[-4:], labels[-4:])
    np.testing.assert_allclose(
        loaded.predict_proba(vectors), whole.predict_proba(vectors), atol=1e-5
    )


def test_the_names_of_images_are_kept_only_where_they_are_known(tmp_path):
    path = tmp_path / "t.safetensors"
    features, labels = blobs(classes=2, each=2)
    FewShotClassifier(features_model(5)).fit(features, labels).save(path)
    plain = path.read_bytes()
    assert b"support" not in plain, "files are those of earlier versions"
    task, info = read_task(path)
    assert info.support is None
    assert info.wrong == ()
    names = tuple(f"{number}.png" for number in range(len(labels)))
    support = SupportNames(names, tuple(labels.tolist()), ("0" * 16,) * len(labels))
    write_task(path, task, replace(info, support=support))
    assert read_task(path)[1].support == support
    write_task(path, task, replace(info, support=replace(support, names=names[1:])))
    with pytest.raises(ModelError, match="a name for each of its images"):
        read_task(path)
