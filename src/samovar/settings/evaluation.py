"""What `samovar evaluate` does besides measuring under a protocol; every field is a flag."""

from dataclasses import dataclass
from pathlib import Path

from samovar.errors import SettingsError

MOST_DRAWN = 100
"""The largest number of tasks that may be drawn: each is a picture in the report."""


@dataclass(frozen=True)
class EvaluationSettings:
    """What to make of an evaluation, on which data and device, and where to write it."""

    temperature: bool = True
    """Fit temperatures on validation tasks, and show what they change."""
    rivals: bool = False
    """Also measure simple classifiers on the same tasks and features: logistic regression,
    prototypes, linear discriminant analysis and the nearest centroid."""
    draw: int = 0
    """Draw this many tasks with their predictions."""
    sampling_study: bool = False
    """Also measure accuracy with 1 to 10,000 samples on up to 1000 tasks: minutes to an hour."""
    data: str | None = None
    """A prepared data set, or a file of vectors by `samovar embed` (FILE.npz); by default the data
    that the model was trained on."""
    once: bool = False
    """Do nothing if the same evaluation is in the folder already."""
    device: str = "auto"
    """cpu, cuda, mps or auto."""
    out: Path | None = None
    """Folder for the results, or an address of fsspec; by default evaluation/ beside the model."""

    def __post_init__(self) -> None:
        if not 0 <= self.draw <= MOST_DRAWN:
            raise SettingsError(f"--draw must be from 0 to {MOST_DRAWN} tasks, but is {self.draw}.")
