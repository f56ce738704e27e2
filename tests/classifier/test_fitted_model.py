"""A fitted model answers images, grows by returning a new one, and never changes."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers import CALIBRATION, blobs, features_model, image_model

from samovar import FewShotClassifier
from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_model import fit_model
from samovar.errors import DataError

CPU = torch.device("cpu")
PARAMETERS = AnswerParameters(samples=8)


def rows_of(features) -> list[torch.Tensor]:
    return list(torch.from_numpy(features.astype(np.float32)))


def test_an_extended_model_is_new_and_the_old_one_is_as_it_was():
    features, labels = blobs(classes=3)
    inputs, labels = rows_of(features), labels.tolist()
    first = fit_model(features_model(5), CPU, inputs[:12], labels[:12])
    totals = first.task.totals.clone()
    grown = first.extended(inputs[12:], labels[12:])
    assert first.classes.tolist() == [0, 1]
    assert torch.equal(first.task.totals, totals)
    assert len(first.support.labels) == 12
    assert grown.classes.tolist() == [0, 1, 2]
    assert grown.task.counts.tolist() == [6, 6, 6]


@pytest.mark.parametrize(
    ("method", "classifier"),
    [("prototypes", "squared"), ("samovar", "linear"), ("samovar", "cosine")],
)
def test_no_images_have_no_answers(method, classifier):
    features, labels = blobs()
    model = features_model(5, method=method, classifier=classifier)
    fitted = fit_model(model, CPU, rows_of(features), labels.tolist())
    answer = fitted.answer([], PARAMETERS)
    assert answer.probabilities.shape == (0, 4)
    assert len(answer.labels) == len(answer.rejected) == len(answer.distance) == 0
    assert len(answer.uncertainty.entropy) == 0


def test_an_answer_and_a_prediction_agree():
    features, labels = blobs()
    model = features_model(5, method="samovar", classifier="cosine")
    fitted = fit_model(model, CPU, rows_of(features), labels.tolist())
    answer = fitted.answer(rows_of(features), PARAMETERS)
    probabilities = fitted.predict(rows_of(features), PARAMETERS).probabilities[0].numpy()
    np.testing.assert_allclose(answer.probabilities, probabilities, atol=1e-6)
    assert answer.labels.tolist() == probabilities.argmax(1).tolist()
    assert not answer.rejected.any()


def test_support_images_are_kept_for_task_embeddings_only():
    images = list(torch.randint(256, (4, 12, 12, 3), dtype=torch.uint8))
    plain = fit_model(image_model(), CPU, images, [0, 0, 1, 1])
    assert plain.support.inputs is None
    model = image_model(backbone="resnet12", width=2, task_embedding=True, classifier="cosine")
    conditioned = fit_model(model, CPU, images, [0, 0, 1, 1])
    assert len(conditioned.support.inputs) == 4
    assert conditioned.leave_one_out(PARAMETERS) is None


def test_images_and_labels_must_be_there_and_match():
    with pytest.raises(DataError, match="at least one image"):
        fit_model(features_model(5), CPU, [], [])
    with pytest.raises(ValueError, match="1 images but 2 labels"):
        fit_model(features_model(5), CPU, [torch.zeros(5)], [0, 1])


@pytest.mark.parametrize("classifier", ["linear", "cosine"])
def test_a_calibrated_model_answers_with_the_temperature_of_its_task(tmp_path, classifier):
    features, labels = blobs(seed=1, classes=3, each=4)
    plain = features_model(5, method="samovar", classifier=classifier)
    calibrated = replace(plain, calibration=CALIBRATION)
    assert calibrated.identity == plain.identity, "tasks of before stay good"
    folder = calibrated.save_pretrained(tmp_path / "model")
    fitted = FewShotClassifier(folder).fit(features, labels)
    probabilities = fitted.predict_proba(features)
    uncalibrated = FewShotClassifier(plain).fit(features, labels)
    assert not np.allclose(probabilities, uncalibrated.predict_proba(features))
    loaded = FewShotClassifier.load(fitted.save(tmp_path / "task.safetensors"))
    np.testing.assert_array_equal(loaded.predict_proba(features), probabilities)
    alone = FewShotClassifier(folder).fit(features[::4], labels[::4])
    assert alone.fitted_.temperature is None, "of one image a class nothing can be left out"
    assert alone.predict_proba(features).shape == (12, 3)
