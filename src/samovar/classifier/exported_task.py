"""An exported task, tried in ONNX Runtime beside the task itself before anybody relies on it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime
import torch
from PIL import Image

from samovar.classifier.answer import AnswerParameters, probabilities_of
from samovar.classifier.fitted_regression import FittedRegression
from samovar.classifier.loading import Fitted
from samovar.classifier.onnx_export import DISTANCE, INPUT, PROBABILITIES, export_task
from samovar.core.randomness import generator
from samovar.encoders.engines import ONLY_FATAL
from samovar.encoders.preprocessing import cropped
from samovar.errors import ModelError

TOLERANCE = 1e-4
PICTURES = 3
"""Test pictures, each of other colours."""


@dataclass(frozen=True)
class ExportedTask:
    """An ONNX model, and how far its answers are from those of the task."""

    content: bytes
    input: tuple[Any, ...]
    """The shape of its input."""
    difference: float
    """The largest difference of a probability or a distance on test pictures."""

    def to_json(self) -> dict[str, Any]:
        """Return what `samovar export --json` prints."""
        return {
            "bytes": len(self.content),
            "input": list(self.input),
            "difference": self.difference,
        }


def try_export(fitted: Fitted, parameters: AnswerParameters) -> ExportedTask:
    """Export a task, and refuse to if the file would answer otherwise."""
    if not isinstance(fitted, FittedRegression):
        raise ModelError(
            "Only tasks of models with an encoder and a closed form, such as photos, can be "
            "exported. Fit this one again without --model."
        )
    content = export_task(fitted, parameters)
    session = session_of(content)
    encoder = fitted.saved.open_encoder()
    assert encoder.preprocessing is not None  # or it could not have been exported
    pictures = _test_pictures()
    vectors = list(torch.from_numpy(encoder.encode(pictures)))
    answer = fitted.answer(vectors, parameters)
    expected = probabilities_of(fitted.predict(vectors, parameters))
    differences = []
    for number, picture in enumerate(pictures):
        pixels = np.asarray(cropped(picture, encoder.preprocessing))
        outputs = session.run([PROBABILITIES, DISTANCE], {INPUT: pixels[None]})
        differences.append(float(np.abs(outputs[0][0] - expected[number]).max()))
        differences.append(float(np.abs(outputs[1][0] - answer.distance[number])))
    if max(differences) > TOLERANCE:
        raise ModelError(
            f"The exported model differs from the task by {max(differences):.1e}, which is more "
            f"than {TOLERANCE}. Nothing was written."
        )
    return ExportedTask(content, tuple(session.get_inputs()[0].shape), max(differences))


def session_of(content: bytes) -> Any:
    """Return a session of ONNX Runtime on the CPU."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = ONLY_FATAL
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _test_pictures() -> list[Image.Image]:
    """Return pictures of patches in all colours."""
    pictures = []
    for number in range(PICTURES):
        noise = generator(0, "test pictures of an export", number)
        patches = Image.fromarray(noise.integers(0, 256, (7, 7, 3), np.uint8))
        pictures.append(patches.resize((320, 280), Image.Resampling.BICUBIC))
    return pictures
