"""Small pictures: encoded files, and folders of drawn characters."""

import io
from pathlib import Path

import numpy as np
from PIL import Image, ImageColor


def encode(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def drawn(content: bytes) -> np.ndarray:
    """Decode a picture of ours to pixels (H, W, 3); it must be a PNG that is not blank."""
    with Image.open(io.BytesIO(content)) as image:
        assert image.format == "PNG"
        pixels = np.array(image.convert("RGB"))
    assert pixels.min() < 128 < pixels.max(), "something dark on white"
    return pixels


def has_color(content: bytes, color: str) -> bool:
    """Whether some pixel of a picture has exactly this colour."""
    return bool((drawn(content) == ImageColor.getrgb(color)).all(-1).any())


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
