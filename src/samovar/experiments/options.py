"""What can be chosen when experiments are run; every field is a flag of `samovar reproduce`."""

from dataclasses import dataclass
from pathlib import Path

from samovar.errors import SettingsError
from samovar.experiments.cell import Scale


@dataclass(frozen=True)
class ReproduceOptions:
    """How experiments are run, and where their files go."""

    scale: Scale = "cpu"
    """cpu: the same comparison, small enough for two cores; paper: the paper's exact recipe."""
    measured_only: bool = False
    """Train nothing; make the tables from the runs that are there."""
    jobs: int = 1
    """Runs to train at the same time, sharing the cores; on a CPU, one for each core is fastest."""
    runs: Path = Path("runs/reproduce")
    """Folder in which runs are trained."""
    keep_weights: bool = False
    """Keep the weights of newly measured runs beside their numbers, 0.5 to 5 MB each."""
    out: Path = Path("results")
    """Folder for the results, or an address such as s3://bucket/results that fsspec can reach."""
    seed: int = 0
    """Seed of the synthetic study; the seeds of training runs are part of their settings."""

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise SettingsError(f"--jobs must be at least 1, but is {self.jobs}.")
