"""An export is tried before it is written; one that differs is refused."""

import numpy as np
import pytest
from helpers_encoders import write_tiny
from helpers_images import glyph
from PIL import Image

import samovar
from samovar.classifier import exported_task
from samovar.classifier.answer import AnswerParameters
from samovar.classifier.exported_task import try_export
from samovar.errors import ModelError


@pytest.fixture
def classifier(tmp_path) -> samovar.FewShotClassifier:
    noise = np.random.default_rng(0)
    pictures = [Image.fromarray(noise.integers(0, 256, (20, 20, 3), np.uint8)) for _ in range(4)]
    encoder = str(write_tiny(tmp_path / "tiny.onnx"))
    return samovar.FewShotClassifier(encoder=encoder).fit(pictures, ["a", "a", "b", "b"])


def test_the_difference_is_measured_and_tiny(classifier):
    exported = try_export(classifier.fitted_, AnswerParameters())
    assert 0 <= exported.difference < 1e-4
    assert exported.to_json()["bytes"] == len(exported.content)
    assert exported.input[1:] == (16, 16, 3)


def test_one_that_differs_is_refused(classifier, monkeypatch):
    other = AnswerParameters(samples=1, seed=9)
    plain = exported_task.export_task
    monkeypatch.setattr(exported_task, "export_task", lambda fitted, _: plain(fitted, other))
    with pytest.raises(ModelError, match="Nothing was written"):
        try_export(classifier.fitted_, AnswerParameters())


def test_small_models_are_refused_in_a_sentence():
    images = [glyph(100, 0), glyph(101, 0)]
    small = samovar.FewShotClassifier("glyphs").fit(images, ["a", "b"])
    with pytest.raises(ModelError, match="such as photos"):
        try_export(small.fitted_, AnswerParameters())
