"""Which engine runs the pieces of a large piece of work, and with what; every field is a flag."""

from dataclasses import dataclass
from pathlib import Path

from samovar.errors import SettingsError
from samovar.settings.checks import check_at_least

LOCAL = "local"
"""The cluster of this machine alone."""
DEFAULT_PARTITION = "default"
"""Stands for the partition that SLURM takes if none is named."""


@dataclass(frozen=True)
class EngineSettings:
    """Where pieces run, and what each of them needs."""

    ray: str | None = None
    """Run on a Ray cluster: its address, auto (the one of this machine), or local (a new one)."""
    slurm: str | None = None
    """Run on this partition of SLURM or the default one, or as processes here (local)."""
    cpus: int = 1
    """Cores for each piece."""
    gpus: int = 0
    """GPUs for each piece."""
    hours: float = 24.0
    """The longest time that SLURM gives a piece; one that is cut off continues in a new job."""
    slurm_options: tuple[str, ...] = ()
    """Further options for sbatch, such as account=lab qos=long."""
    logs: Path = Path("samovar-logs")
    """Folder for what each piece prints."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, ("cpus",))
        check_at_least(self, 0, ("gpus",))
        if not self.hours > 0:
            raise SettingsError(f"--hours must be positive, but is {self.hours}.")
        if self.ray is not None and self.slurm is not None:
            raise SettingsError("--ray and --slurm are two engines. Choose one of them.")
        for option in self.slurm_options:
            if "=" not in option:
                raise SettingsError(
                    f"--slurm-options are written NAME=VALUE, such as account=lab, unlike "
                    f"{option!r}."
                )

    @property
    def chosen(self) -> bool:
        """Whether an engine was asked for; without one, pieces run one after the other here."""
        return self.ray is not None or self.slurm is not None
