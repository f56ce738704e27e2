"""Which data, how it is prepared, and how it enters the network."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from samovar.errors import SettingsError
from samovar.settings.checks import check_at_least


@dataclass(frozen=True)
class PrepareSettings:
    """How to prepare your own data (the benchmarks leave nothing to choose)."""

    size: int = 84
    """Height and width of the stored images in pixels, after a central square crop (folder)."""
    colour: Literal["rgb", "grey"] = "rgb"
    """Store colour or grey images (folder)."""
    inverted: bool = False
    """Store dark ink on white paper as bright ink on black (folder)."""
    fractions: tuple[float, float, float] = (0.64, 0.16, 0.2)
    """Shares of the classes for train, val and test, if no split is given (folder, features)."""
    split_file: Path | None = None
    """A split instead: JSON {"train": [class, ...], "val": ..., "test": ...} (folder, features)."""
    seed: int = 0
    """Seed of the split by fractions."""

    def __post_init__(self) -> None:
        if not 1 <= self.size <= 1024:
            raise SettingsError(f"--size must be from 1 to 1024 pixels, but is {self.size}.")


@dataclass(frozen=True)
class AugmentationSettings:
    """Random changes of training images, in the strengths of MetaOptNet (the paper gives none)."""

    flip: bool = False
    """Mirror half of the images."""
    crop_padding: int = 0
    """Pad by this many pixels on each side, then crop at random (4 for 32 pixels, 8 for 84)."""
    jitter: float = 0.0
    """Change brightness, contrast and saturation by factors from 1 - jitter to 1 + jitter (0.4)."""

    def __post_init__(self) -> None:
        check_at_least(self, 0, ("crop_padding",), prefix="augmentation.")
        if self.crop_padding > 1024:
            raise SettingsError(
                "--augmentation.crop-padding must be from 0 to 1024 pixels, but is "
                f"{self.crop_padding}."
            )
        if not 0 <= self.jitter <= 1:
            raise SettingsError(f"--augmentation.jitter must be from 0 to 1, but is {self.jitter}.")


@dataclass(frozen=True)
class DataSettings:
    """Which data, and how it enters the network."""

    name: str = "glyphs"
    """A prepared data set (`samovar data list`)."""
    scheme: str | None = None
    """The splitting scheme, if not the default (omniglot has vinyals and versa)."""
    rotations: bool = False
    """Count rotated images as new classes (Omniglot)."""
    normalisation: Literal["standard", "unit"] = "standard"
    """To mean 0 and deviation 1 over the training classes, or only to 0 .. 1 (unit; VERSA)."""
