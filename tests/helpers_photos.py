"""A regression on a small encoder that is made of a Python function, and drawn photographs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from samovar.artifacts.saved_regression import SavedRegression, regression_on
from samovar.encoders.callable_encoder import CallableEncoder
from samovar.encoders.registry import register_encoder
from samovar.models.closed_form import ClosedForm
from samovar.prediction.regression_rejection import RegressionRejection, RegressionThresholds
from samovar.prediction.rejection import RATES

LENGTH = 48


def patch_means(images: np.ndarray) -> np.ndarray:
    """The mean colours of 4 x 4 patches, 48 numbers."""
    patches = images.reshape(len(images), 4, 4, 4, 4, 3)
    return patches.mean((2, 4)).reshape(len(images), LENGTH).astype(np.float32)


def patch_encoder(name: str = "patches") -> CallableEncoder:
    return CallableEncoder(patch_means, name, size=16)


def small_regression(rejection: bool = True) -> SavedRegression:
    """An untrained regression on the patch encoder, with made-up thresholds."""
    register_encoder("patches", patch_encoder)
    saved = regression_on("patches", ClosedForm(), {"data": "drawn patches"})
    if not rejection:
        return saved
    thresholds = tuple(np.linspace(-2, 1, len(RATES)).tolist())
    relative = tuple(np.linspace(-0.5, 0.5, len(RATES)).tolist())
    cells = (
        RegressionThresholds(5, 1, thresholds),
        RegressionThresholds(5, 5, thresholds, relative),
    )
    return replace(saved, rejection=RegressionRejection("made-up tasks", cells))


def clouds(seed: int = 0, classes: int = 4, each: int = 6, length: int = LENGTH):
    """Vectors (n, length) around class means, and their labels, as an encoder gives them."""
    noise = np.random.default_rng(seed)
    labels = np.repeat(np.arange(classes), each)
    means = np.random.default_rng(99).normal(size=(classes, length)) * 2
    vectors = np.abs(means[labels] + noise.normal(size=(len(labels), length)))
    return vectors.astype(np.float32), labels


def vector_list(vectors: np.ndarray) -> list[torch.Tensor]:
    return list(torch.from_numpy(np.asarray(vectors, np.float32)))


def draw_photos(root: Path, counts: dict[str, int], first: int = 0, side: int = 300) -> Path:
    """Draw JPEG photographs of discs, bars and checks in changing colours and places."""
    rows, columns = np.mgrid[:side, : side + 40]
    for name, count in counts.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        for number in range(first, first + count):
            noise = np.random.default_rng([number, len(name)])
            middle = noise.uniform(0.35, 0.65, 2) * side
            width = noise.uniform(0.1, 0.2) * side
            shapes = {
                "disc": np.hypot(rows - middle[0], columns - middle[1]) < 1.5 * width,
                "bars": (columns // width) % 2 < 1,
                "checks": ((rows // width) + (columns // width)) % 2 < 1,
            }
            ink, paper = noise.integers(0, 110, 3), noise.integers(150, 256, 3)
            pixels = np.where(shapes[name][..., None], ink, paper) + noise.normal(0, 6, 3)
            picture = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
            picture.save(root / name / f"{number}.jpg", quality=90)
    return root
