"""Settings of the synthetic study of section 4.1."""

import math
from dataclasses import asdict, dataclass, replace

from samovar.errors import SettingsError
from samovar.settings.checks import LARGEST, flag


@dataclass(frozen=True)
class SyntheticSettings:
    """The synthetic study of section 4.1."""

    sigma_y: tuple[float, ...] = (0.1, 0.5, 1.0)
    """Standard deviations of the observations around psi; the figure has a panel for each."""
    samples: tuple[int, ...] = (1, 2, 3, 5, 10, 20, 50, 100)
    """Values of L, the number of samples from the inference network in training."""
    tasks: int = 250
    """T, the number of training tasks of each seed."""
    support: int = 5
    """K, the number of support observations per task."""
    query: int = 15
    """M, the number of query observations per task."""
    seeds: int = 400
    """Number of training sets for the exact and the variational loss, each with its own tasks."""
    monte_carlo_seeds: int = 20
    """Number of training sets for the Monte Carlo loss, which costs far more; part of `seeds`."""
    steps: int = 1500
    """Updates by Adam; after 30 % of them the step size falls geometrically to a thousandth."""
    batch: int = 50
    """Tasks per update."""
    learning_rate: float = 0.2
    """Adam's first step size."""
    start_variance: float = 1.0
    """Variance that the untrained network predicts (1 is the prior variance of psi)."""
    fresh: bool = False
    """Draw new tasks at every update, as from the population, instead of `tasks` fixed ones."""
    new_tasks: int = 1000
    """New tasks of each seed on which the trained networks are compared with the true posterior."""
    seed: int = 0
    """Every random number of the study is a function of this."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not isinstance(value, tuple):
                value = (value,)
            if name not in ("fresh", "seed"):
                _check_positive(name, value)
            if not value or len(set(value)) < len(value):
                raise SettingsError(
                    f"{flag(name)} needs at least one value, and none of them twice."
                )

    def quick(self) -> "SyntheticSettings":
        """Return the same study with fewer seeds and updates: a first look, not a measurement."""
        return replace(
            self,
            seeds=min(self.seeds, 30),
            monte_carlo_seeds=min(self.monte_carlo_seeds, 5),
            steps=min(self.steps, 500),
        )


def _check_positive(name: str, values: tuple[float, ...]) -> None:
    if LARGEST < max(values, default=0) < math.inf:
        raise SettingsError(f"{flag(name)} must be at most {LARGEST:,}.")
    if not all(math.isfinite(value) and value > 0 for value in values):
        given = " ".join(map(str, values))
        raise SettingsError(f"{flag(name)} must be greater than zero and finite, but is {given}.")
