"""Settings of the synthetic study of section 4.1."""

import math
from dataclasses import asdict, dataclass, replace

from samovar.errors import SettingsError


@dataclass(frozen=True)
class SyntheticSettings:
    """The synthetic study of section 4.1."""

    sigma_y: tuple[float, ...] = (0.1, 0.5, 1.0)
    """Standard deviation of the observations around psi; one panel of the figure each."""
    samples: tuple[int, ...] = (1, 2, 3, 5, 10, 20, 50, 100)
    """L, the numbers of samples from the inference network in training."""
    tasks: int = 250
    """T, the training tasks of each seed."""
    support: int = 5
    """K, support observations per task."""
    query: int = 15
    """M, query observations per task."""
    seeds: int = 400
    """Training sets for the exact and the variational loss, each with its own tasks."""
    monte_carlo_seeds: int = 20
    """Training sets for the Monte Carlo loss, which costs far more; the first ones of `seeds`."""
    steps: int = 1500
    """Updates by Adam; after three tenths of them the step size falls geometrically, to a thousandth at the end."""
    batch: int = 50
    """Tasks per update."""
    learning_rate: float = 0.2
    """Adam's first step size."""
    start_variance: float = 1.0
    """Variance that the untrained network predicts (1 is that of psi before any observation)."""
    fresh: bool = False
    """Draw new tasks at every update instead of `tasks` fixed ones: the population instead of a training set."""
    new_tasks: int = 1000
    """New tasks, for each seed, on which the trained networks are compared with the true posterior."""
    seed: int = 0
    """Every random number of the study is a function of this."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            values = value if isinstance(value, tuple) else (value,)
            flag = "--" + name.replace("_", "-")
            if name not in ("fresh", "seed") and not all(
                math.isfinite(x) and x > 0 for x in values
            ):
                raise SettingsError(
                    f"{flag} must be greater than zero and finite, but is {' '.join(map(str, values))}."
                )
            if len(set(values)) < max(1, len(values)):
                raise SettingsError(f"{flag} needs at least one value, and none of them twice.")

    def quick(self) -> "SyntheticSettings":
        """The same study with fewer seeds and updates: a look, not a measurement."""
        return replace(
            self,
            seeds=min(self.seeds, 30),
            monte_carlo_seeds=min(self.monte_carlo_seeds, 5),
            steps=min(self.steps, 500),
        )
