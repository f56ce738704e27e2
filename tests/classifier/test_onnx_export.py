"""An exported task answers as the task does: any classes, images, samples, encoders and pixels."""

import json

import numpy as np
import onnx
import pytest
import torch
from helpers_encoders import write_tiny
from helpers_photos import small_regression
from PIL import Image

import samovar
from samovar.classifier.answer import AnswerParameters
from samovar.classifier.exported_task import session_of
from samovar.classifier.onnx_export import export_task
from samovar.encoders.preprocessing import cropped
from samovar.errors import ModelError


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    return str(write_tiny(tmp_path_factory.mktemp("encoder") / "tiny.onnx"))


def pictures(count: int, seed: int = 0) -> list[Image.Image]:
    noise = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        patches = Image.fromarray(noise.integers(0, 256, (5, 6, 3), np.uint8))
        found.append(patches.resize((90, 70)))
    return found


def compare(classifier: samovar.FewShotClassifier, images: list[Image.Image]) -> None:
    fitted = classifier.fitted_
    session = session_of(export_task(fitted, classifier._parameters))
    preprocessing = fitted.saved.open_encoder().preprocessing
    pixels = np.stack([np.asarray(cropped(image, preprocessing)) for image in images])
    probabilities, distance = session.run(None, {"pixels": pixels})
    answer = classifier.answer(images)
    np.testing.assert_allclose(probabilities, answer.probabilities, atol=1e-5)
    np.testing.assert_allclose(distance, answer.distance, atol=1e-4)


@pytest.mark.parametrize(
    ("labels", "samples"),
    [
        (["a", "b", "c"], 128),  # one image of each
        (["a"] * 4 + ["b"] * 3 + ["c"] * 2, 100),  # unequal, and no power of two
        (["a"] * 5, 16),  # a single class
        (["a"], 8),  # a single image
        ([str(number % 7) for number in range(40)], 1),
    ],
)
def test_answers_are_those_of_the_classifier(encoder, labels, samples):
    classifier = samovar.FewShotClassifier(encoder=encoder, samples=samples, seed=3)
    classifier.fit(pictures(len(labels)), labels)
    compare(classifier, pictures(6, seed=1))


def test_the_shipped_network_is_inside():
    classifier = samovar.FewShotClassifier(reject=0.05).fit(
        pictures(6), ["a", "a", "b", "b", "c", "c"]
    )
    compare(classifier, pictures(2, seed=1))


def test_blue_first_and_other_scales_are_part_of_the_graph(tmp_path):
    preprocessing = {"size": 16, "resize": 20, "mean": [1, 2, 3], "std": [4, 5, 6]}
    facts = preprocessing | {"channels": "bgr", "scale": 0.5}
    path = write_tiny(tmp_path / "other.onnx", preprocessing=facts)
    classifier = samovar.FewShotClassifier(encoder=str(path)).fit(pictures(4), ["a", "a", "b", "b"])
    compare(classifier, pictures(3, seed=1))


def test_the_metadata_says_what_a_user_must_know(encoder):
    classifier = samovar.FewShotClassifier(encoder=encoder, reject=0.05)
    classifier.fit(pictures(4), ["é", "é", "2", "2"])
    content = export_task(classifier.fitted_, classifier._parameters)
    onnx.checker.check_model(onnx.load_from_string(content))
    facts = session_of(content).get_modelmeta().custom_metadata_map
    assert json.loads(facts["labels"]) == ["2", "é"]
    assert json.loads(facts["threshold"]) == classifier.fitted_.threshold(0.05)
    assert json.loads(facts["reject_label"]) == "none of these"
    assert json.loads(facts["preprocessing"])["size"] == 16
    unlimited = export_task(classifier.fitted_, AnswerParameters())
    facts = session_of(unlimited).get_modelmeta().custom_metadata_map
    assert json.loads(facts["threshold"]) is None


def test_an_encoder_that_is_no_graph_is_refused_by_name():
    noise = torch.rand(4, 48)
    classifier = samovar.FewShotClassifier(small_regression()).fit(noise, ["a", "a", "b", "b"])
    with pytest.raises(ModelError, match="patches"):
        export_task(classifier.fitted_, AnswerParameters())


def test_operators_that_are_too_old_are_refused(encoder, monkeypatch):
    classifier = samovar.FewShotClassifier(encoder=encoder).fit(pictures(2), ["a", "b"])
    monkeypatch.setattr("samovar.classifier.onnx_export.OLDEST_OPSET", 99)
    with pytest.raises(ModelError, match="99 is the oldest"):
        export_task(classifier.fitted_, AnswerParameters())
