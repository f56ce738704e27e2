"""How a picture of any size becomes the input of an encoder.

An encoder is only as good as its preprocessing is right: the one that it was trained with. It is
a value of its own, so that it can be written beside a network, compared, and hashed.
"""

import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from samovar.core.stored_json import read_json
from samovar.errors import SettingsError, UnreadableError
from samovar.settings.checked import checked

Interpolation = Literal["nearest", "bilinear", "bicubic", "lanczos"]
Channels = Literal["rgb", "bgr"]
Colour = tuple[float, float, float]

LARGEST_SIDE = 2048
"""Pixels. The largest inputs of published encoders have about 1,000."""
LONGEST = 8
"""Of pictures that are more times longer than wide only the middle is resized: a ribbon of
1 x 60,000 pixels would need gigabytes."""
LARGEST_JSON = 65_536
"""Bytes of a file that describes a preprocessing."""


@dataclass(frozen=True)
class Preprocessing:
    """From a picture to (3, size, size) float32: resized, cropped, and (scale x - mean) / std."""

    size: int
    """Height and width of the input in pixels, cropped from the centre."""
    resize: int
    """Pixels of the shorter side before the crop."""
    mean: Colour
    std: Colour
    scale: float = 1 / 255
    """What the pixels 0 to 255 are multiplied by before the mean is subtracted."""
    interpolation: Interpolation = "bicubic"
    channels: Channels = "rgb"
    squash: bool = False
    """Resize to size x size and change the aspect ratio, as SigLIP does, instead of cropping."""

    def __post_init__(self) -> None:
        """Refuse values that no network takes."""
        if not 1 <= self.size <= self.resize <= LARGEST_SIDE:
            raise SettingsError(
                "The preprocessing needs 1 <= size <= resize <= "
                f"{LARGEST_SIDE}, but has size {self.size} and resize {self.resize}."
            )
        numbers = (*self.mean, *self.std, self.scale)
        if not all(math.isfinite(number) for number in numbers):
            raise SettingsError("The preprocessing needs finite numbers in mean, std and scale.")
        if min(*self.std, self.scale) <= 0:
            raise SettingsError("The preprocessing needs std and scale above zero.")

    def to_json(self) -> dict[str, Any]:
        """Return a form that `from_json` reads."""
        return asdict(self) | {"mean": list(self.mean), "std": list(self.std)}

    @classmethod
    def from_json(cls, content: object, origin: str) -> "Preprocessing":
        """Read the JSON form strictly; `origin` says in errors where it comes from."""
        entries = [entry.name for entry in fields(cls)]
        # The reader ignores unknown entries; here one of them is a typing error of the user's.
        unknown = sorted(set(content) - set(entries)) if isinstance(content, dict) else []
        if unknown:
            raise SettingsError(
                f"{origin} has the unknown entry {unknown[0]!r}. The entries are: "
                f"{', '.join(entries)}."
            )
        try:
            return checked(cls, content)
        except UnreadableError as error:
            raise SettingsError(f"{origin}: {error}. An example: {EXAMPLE}.") from error


EXAMPLE = (
    '{"size": 224, "resize": 256, "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}'
)


def read_preprocessing(path: Path) -> Preprocessing:
    """Read a preprocessing from a JSON file."""
    try:
        content = read_json(path, dict[str, Any], LARGEST_JSON)
    except (OSError, UnreadableError) as error:
        raise SettingsError(f"The preprocessing {path} cannot be read ({error}).") from error
    return Preprocessing.from_json(content, str(path))


def imagenet(size: int = 224) -> Preprocessing:
    """Return the preprocessing of most networks trained on ImageNet, and of DINOv2."""
    resize = round(size * 256 / 224)
    return Preprocessing(size, resize, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def clip(size: int = 224) -> Preprocessing:
    """Return the preprocessing of CLIP."""
    mean = (0.48145466, 0.4578275, 0.40821073)
    return Preprocessing(size, size, mean, (0.26862954, 0.26130258, 0.27577711))


def siglip(size: int = 224) -> Preprocessing:
    """Return the preprocessing of SigLIP."""
    half = (0.5, 0.5, 0.5)
    return Preprocessing(size, size, half, half, squash=True)


NAMED = {"imagenet": imagenet, "clip": clip, "siglip": siglip}


def cropped(picture: Image.Image, preprocessing: Preprocessing) -> Image.Image:
    """Resize an RGB picture and crop its centre to size x size."""
    size = preprocessing.size
    interpolation = Image.Resampling[preprocessing.interpolation.upper()]
    if preprocessing.squash:
        return picture.resize((size, size), interpolation)
    if max(picture.size) > LONGEST * min(picture.size):
        picture = _middle(picture)
    factor = preprocessing.resize / min(picture.size)
    width = max(preprocessing.resize, round(picture.width * factor))
    height = max(preprocessing.resize, round(picture.height * factor))
    left = (width - size) // 2
    top = (height - size) // 2
    resized = picture.resize((width, height), interpolation)
    return resized.crop((left, top, left + size, top + size))


def _middle(picture: Image.Image) -> Image.Image:
    """Return the middle of a ribbon, at most twice as long as it is wide."""
    side = min(picture.size)
    left = max(0, (picture.width - 2 * side) // 2)
    top = max(0, (picture.height - 2 * side) // 2)
    return picture.crop((left, top, picture.width - left, picture.height - top))


def encoder_input(picture: Image.Image, preprocessing: Preprocessing) -> NDArray[np.float32]:
    """Return the input (3, size, size) float32 of an encoder for an RGB picture."""
    pixels = np.asarray(cropped(picture, preprocessing))
    planes = np.moveaxis(pixels, -1, 0)
    if preprocessing.channels == "bgr":
        planes = planes[::-1]
    mean = np.array(preprocessing.mean, np.float32).reshape(3, 1, 1)
    std = np.array(preprocessing.std, np.float32).reshape(3, 1, 1)
    if preprocessing.scale == 1:  # spares a pass over the pixels
        array = np.subtract(planes, mean, dtype=np.float32)
    else:
        array = np.multiply(planes, np.float32(preprocessing.scale), dtype=np.float32) - mean
    array *= 1 / std
    return np.ascontiguousarray(array)
