"""Small pictures: encoded files, and folders of drawn characters."""

import io
from pathlib import Path

import numpy as np
from PIL import Image


def encode(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def halves(mode: str, left: object, right: object, size: tuple[int, int] = (16, 16)) -> Image.Image:
    image = Image.new(mode, size, left)
    image.paste(right, (size[0] // 2, 0, *size))
    return image


def glyph(seed: int, variant: int = 0) -> Image.Image:
    """Dark strokes on white paper; the seed chooses the character, the variant its shakes."""
    paper = np.full((40, 40), 255, np.uint8)
    corners = np.random.default_rng(seed).integers(4, 32, size=(3, 2))
    shake = np.random.default_rng(1000 * seed + variant).integers(-1, 2, size=(3, 2))
    for row, column in corners + shake:
        paper[row : row + 3, 4:36] = 0
        paper[4:36, column : column + 3] = 0
    return Image.fromarray(paper)


def make_folder(root: Path, names: dict[str, int], images: int, first: int = 0) -> Path:
    for name, seed in names.items():
        (root / name).mkdir(parents=True)
        for i in range(first, first + images):
            glyph(seed, i).save(root / name / f"{i}.png")
    return root
