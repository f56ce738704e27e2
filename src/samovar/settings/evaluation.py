"""What `samovar evaluate` does beside measuring under a protocol; every field is a flag."""

from dataclasses import dataclass
from pathlib import Path

from samovar.errors import SettingsError

MOST_DRAWN = 100
"""Tasks that may be drawn as pictures."""


@dataclass(frozen=True)
class EvaluationSettings:
    """What to make of an evaluation, on which data and device, and where to write it."""

    temperature: bool = True
    """Fit temperatures on validation tasks, and show what they change."""
    draw: int = 0
    """Draw this many tasks with their predictions."""
    sampling_study: bool = False
    """Also measure accuracy over the number of sampled classifiers, 1 to 10,000, ten times each, on
    the first 1000 tasks; takes minutes to an hour."""
    data: str | None = None
    """A prepared data set; by default the one that the model was trained on."""
    device: str = "auto"
    """cpu, cuda, mps or auto."""
    out: Path | None = None
    """Folder for the results; by default evaluation/ in the run or model folder."""

    def __post_init__(self) -> None:
        if not 0 <= self.draw <= MOST_DRAWN:
            raise SettingsError(f"--draw must be from 0 to {MOST_DRAWN} tasks, but is {self.draw}.")
