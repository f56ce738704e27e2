"""Glyphs: a data set that needs no download.

It is drawn from the twelve DejaVu faces that matplotlib brings along. A class is a character; an
image shows it in one face under a random affine distortion. Scripts divide train, val and test, so
that the test scripts are never seen in training. Characters that look alike are found by comparing
their renderings, never by a model. matplotlib is imported only when glyphs are drawn, since listing
the sources needs none of it.
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
from samovar.data.splits import Split
from samovar.data.store import SPLITS, ClassEntry, Contents
from samovar.settings.data import PrepareSettings

SIZE = 28
"""Height and width of an image in pixels."""
OVERSAMPLING = 4
"""Characters are drawn so many times larger, and reduced after distortion."""
CANVAS = SIZE * OVERSAMPLING
DRAWINGS = 20
"""Images of each character."""
EM = 98
"""Font size on the canvas: a capital is then 18 of the 28 pixels high."""
ALIKE = 0.93
"""Two characters count as one from this cosine similarity of their renderings in all faces."""
LEAST_INK = 0.04
"""Share of the image that a character must fill, in white pixels, to be visible."""
SPLIT_OF_SCRIPT = {"greek": "val", "cyrillic": "test", "armenian": "test", "georgian": "test"}
"""Scripts that are not for training; Latin letters, digits and symbols are."""


def faces() -> list[Path]:
    """Return the twelve faces: sans, mono and serif, each regular, bold, slanted and both."""
    import matplotlib

    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return sorted(path for path in folder.glob("DejaVu*.ttf") if "Display" not in path.name)


def characters() -> list[str]:
    """Return the characters that all faces have: first those of train, then val, then test."""
    from matplotlib.ft2font import FT2Font

    # FreeType's own table of characters; Pillow has none to ask.
    common = set.intersection(*(set(FT2Font(str(face)).get_charmap()) for face in faces()))
    drawn = [chr(code) for code in sorted(common) if _leaves_ink(chr(code))]
    return sorted(drawn, key=lambda character: SPLITS.index(split_of(character)))


def _leaves_ink(character: str) -> bool:
    """Return false for separators (Z), controls (C) and combining marks (M)."""
    return unicodedata.category(character)[0] not in "ZCM"


def script(character: str) -> str:
    """Return the script by the character's Unicode name; whatever is not a letter is a symbol."""
    first = unicodedata.name(character, "unnamed").split()[0].lower()
    if first == "latin" or first in SPLIT_OF_SCRIPT:
        return first
    return "symbols"


def split_of(character: str) -> str:
    """Return the split that the character's script belongs to."""
    return SPLIT_OF_SCRIPT.get(script(character), "train")


def class_name(character: str) -> str:
    """Return the name of a character's class.

    >>> class_name("Ж")
    'U+0416 CYRILLIC CAPITAL LETTER ZHE'
    """
    return f"U+{ord(character):04X} {unicodedata.name(character, 'unnamed')}"


def render(character: str, font: ImageFont.FreeTypeFont) -> Image.Image:
    """Draw the character in the middle of a canvas, white on black, and small enough to fit."""
    left, top, right, bottom = font.getbbox(character)
    room = CANVAS - 2 * OVERSAMPLING
    if max(right - left, bottom - top) > room:
        font = font.font_variant(size=math.floor(EM * room / max(right - left, bottom - top)))
        left, top, right, bottom = font.getbbox(character)
    canvas = Image.new("L", (CANVAS, CANVAS))
    corner = ((CANVAS - right - left) / 2, (CANVAS - bottom - top) / 2)
    ImageDraw.Draw(canvas).text(corner, character, fill=255, font=font)
    return canvas


def distort(canvas: Image.Image, noise: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Turn, shear, scale and shift by six uniform numbers from -1 to 1, then reduce to (28, 28)."""
    angle = noise[0] * math.radians(12)
    shear = noise[1] * 0.2
    scale = np.exp(noise[2:4] * 0.12)
    shift = noise[4:6] * 1.5 * OVERSAMPLING
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    # Pillow wants the inverse map, from the new picture to the old one, about the upper left
    # corner.
    matrix = turn @ np.array([[1, shear], [0, 1]]) / scale
    middle = np.full(2, CANVAS / 2)
    offset = middle - matrix @ (middle + shift)
    coefficients = (*matrix[0], offset[0], *matrix[1], offset[1])
    moved = canvas.transform(
        canvas.size, Image.Transform.AFFINE, coefficients, Image.Resampling.BILINEAR
    )
    return np.asarray(moved.reduce(OVERSAMPLING))


def distinct(candidates: Sequence[str], fonts: Sequence[ImageFont.FreeTypeFont]) -> list[str]:
    """Return the candidates in order, without those that are too faint or look like an earlier one.

    Train comes before val and test, so what a test script shares with a training script is left out
    of the test.
    """
    rendered = []
    for character in candidates:
        for font in fonts:
            rendered.append(np.asarray(render(character, font).reduce(OVERSAMPLING)))
    vectors = np.array(rendered, np.float32).reshape(len(candidates), -1) / 255
    visible = vectors.mean(1) >= LEAST_INK
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    # Vectors of length 1: their products are cosines.
    alike = vectors @ vectors.T >= ALIKE
    kept: list[int] = []
    for position in np.flatnonzero(visible):
        if not alike[position, kept].any():
            kept.append(int(position))
    return [candidates[position] for position in kept]


def draw(character: str, fonts: Sequence[ImageFont.FreeTypeFont]) -> NDArray[np.uint8]:
    """Return the drawings (20, 28, 28, 1) of a character, the same ones every time."""
    noise = generator(0, "glyphs", ord(character))
    # Every face once, then some again, in an order that depends on the character.
    order = np.resize(noise.permutation(len(fonts)), DRAWINGS)
    distortions = noise.uniform(-1, 1, (DRAWINGS, 6))
    drawings = []
    for face, distortion in zip(order.tolist(), distortions, strict=True):
        drawings.append(distort(render(character, fonts[face]), distortion))
    return np.stack(drawings)[..., None]


def _open(root: Path, settings: PrepareSettings) -> Contents:
    del root, settings  # nothing to read, nothing to choose
    fonts = [ImageFont.truetype(str(face), EM) for face in faces()]
    kept = distinct(characters(), fonts)
    classes = []
    split: Split = {split_name: [] for split_name in SPLITS}
    for character in kept:
        name = class_name(character)
        classes.append(ClassEntry(name, DRAWINGS, script(character)))
        split[split_of(character)].append(name)
    return Contents(
        classes,
        (SIZE, SIZE, 1),
        lambda position: draw(kept[position], fonts),
        {"script": split},
    )


GLYPHS = Source(
    "glyphs",
    "Glyphs: characters of the DejaVu fonts, split by script, drawn on this machine",
    "DejaVu fonts licence (free)",
    "DejaVu fonts, as bundled with matplotlib",
    _open,
    inverted=True,
    resampling="lanczos",
)
