"""Glyphs: a data set that needs no download, drawn from the twelve DejaVu faces that matplotlib brings along.

A class is a character, an image is one face under a random affine distortion. Scripts divide train, val and test, so
that test scripts are unseen. Characters that look alike are found by comparing their renderings, never by a model.
"""

import math
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from samovar.core.randomness import generator
from samovar.data.sources.base import Source
from samovar.data.store import ClassEntry, Contents
from samovar.settings.data import PrepareSettings

SIZE, OVERSAMPLING, DRAWINGS = 28, 4, 20
CANVAS = SIZE * OVERSAMPLING
EM = 98
"""Font size on the canvas: a capital is then 18 of the 28 pixels high."""
ALIKE = 0.93
"""Cosine similarity of two characters' renderings in all faces from which they count as one."""
LEAST_INK = 0.04
"""Share of the image that a character must fill, in white pixels, to be seen."""
PARTS = {"greek": "val", "cyrillic": "test", "armenian": "test", "georgian": "test"}
"""Scripts that are not for training; Latin letters, digits and symbols are."""


def faces() -> list[Path]:
    """The twelve faces: sans, mono and serif, each regular, bold, slanted and both."""
    import matplotlib  # only here, since it takes a while

    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return sorted(path for path in folder.glob("DejaVu*.ttf") if "Display" not in path.name)


def characters() -> list[str]:
    """Characters that all faces have, without spaces and combining marks; first those of train, then val, then test."""
    from matplotlib.ft2font import FT2Font

    common = set.intersection(*({*FT2Font(str(face)).get_charmap()} for face in faces()))
    drawn = [
        chr(code) for code in sorted(common) if unicodedata.category(chr(code))[0] not in "ZCM"
    ]
    return sorted(drawn, key=lambda each: ("train", "val", "test").index(part(each)))


def script(character: str) -> str:
    """The script by the character's Unicode name; all that is no letter is a symbol."""
    first = unicodedata.name(character, "unnamed").split()[0].lower()
    return first if first == "latin" or first in PARTS else "symbols"


def part(character: str) -> str:
    """The split that the character's script belongs to."""
    return PARTS.get(script(character), "train")


def render(character: str, font: ImageFont.FreeTypeFont) -> Image.Image:
    """The character in the middle of a canvas, white on black, made smaller where it would not fit."""
    left, top, right, bottom = font.getbbox(character)
    room = CANVAS - 2 * OVERSAMPLING
    if max(right - left, bottom - top) > room:
        font = font.font_variant(size=math.floor(EM * room / max(right - left, bottom - top)))
        left, top, right, bottom = font.getbbox(character)
    canvas = Image.new("L", (CANVAS, CANVAS))
    at = ((CANVAS - right - left) / 2, (CANVAS - bottom - top) / 2)
    ImageDraw.Draw(canvas).text(at, character, fill=255, font=font)
    return canvas


def distort(canvas: Image.Image, noise: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Turn, shear, scale and shift by six uniform numbers from -1 to 1, then reduce to (28, 28)."""
    angle, shear = noise[0] * math.radians(12), noise[1] * 0.2
    scale = np.exp(noise[2:4] * 0.12)
    shift = noise[4:6] * 1.5 * OVERSAMPLING
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    matrix = turn @ np.array([[1, shear], [0, 1]]) / scale
    middle = np.full(2, CANVAS / 2)
    offset = middle - matrix @ (middle + shift)
    coefficients = (*matrix[0], offset[0], *matrix[1], offset[1])
    moved = canvas.transform(
        canvas.size, Image.Transform.AFFINE, coefficients, Image.Resampling.BILINEAR
    )
    return np.asarray(moved.reduce(OVERSAMPLING))


def distinct(candidates: Sequence[str], fonts: Sequence[ImageFont.FreeTypeFont]) -> list[str]:
    """The candidates in order, without those too faint to see and those that look like one already kept.

    Train comes before val and test, so what a test script shares with a training script is left out of the test.
    """
    rendered = [
        [np.asarray(render(each, font).reduce(OVERSAMPLING)) for font in fonts]
        for each in candidates
    ]
    vectors = np.array(rendered, np.float32).reshape(len(candidates), -1) / 255
    seen = vectors.mean(1) >= LEAST_INK
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    alike = vectors @ vectors.T >= ALIKE
    kept: list[int] = []
    for position in np.flatnonzero(seen):
        if not alike[position, kept].any():
            kept.append(int(position))
    return [candidates[position] for position in kept]


def _open(root: Path, settings: PrepareSettings) -> Contents:
    del root, settings  # nothing to read, nothing to choose
    fonts = [ImageFont.truetype(str(face), EM) for face in faces()]
    kept = distinct(characters(), fonts)
    names = [f"U+{ord(each):04X} {unicodedata.name(each, 'unnamed')}" for each in kept]

    def read(position: int) -> NDArray[np.uint8]:
        noise = generator(0, "glyphs", ord(kept[position]))
        # Every face once, then some again, in an order of the character's own.
        order = np.resize(noise.permutation(len(fonts)), DRAWINGS)
        distortions = noise.uniform(-1, 1, (DRAWINGS, 6))
        drawings = [
            distort(render(kept[position], fonts[i]), each)
            for i, each in zip(order, distortions, strict=True)
        ]
        return np.stack(drawings)[..., None]

    split = {
        each: [n for n, c in zip(names, kept, strict=True) if part(c) == each]
        for each in ("train", "val", "test")
    }
    return Contents(
        [ClassEntry(name, DRAWINGS, script(each)) for name, each in zip(names, kept, strict=True)],
        (SIZE, SIZE, 1),
        read,
        {"script": split},
    )


GLYPHS = Source(
    "glyphs",
    "Glyphs: characters of the DejaVu fonts, split by script, drawn on this machine",
    "DejaVu fonts licence (free)",
    "DejaVu fonts, as bundled with matplotlib",
    _open,
    inverted=True,
)
