"""The shape of few-shot tasks, and the protocols by which models are measured on them."""

from dataclasses import dataclass
from typing import Any, Literal

from samovar.errors import SettingsError
from samovar.settings.checks import check_at_least

MOST_SAMPLES = 1_000_000
"""Most sampled classifiers: a hundred times the paper's largest number, to catch typing errors."""


@dataclass(frozen=True)
class TaskShape:
    """How many images a few-shot task has."""

    way: int = 5
    """N, the number of classes in a task."""
    shot: int = 1
    """K, the number of support images of each class."""
    queries: int = 15
    """Query images of each class, or of the whole task with `pooled_queries`."""
    pooled_queries: bool = False
    """Draw queries from the classes' pooled images, as TADAM does: a class may then have none."""

    @property
    def queries_in_all(self) -> int:
        """M, the number of queries of the whole task."""
        if self.pooled_queries:
            return self.queries
        return self.queries * self.way

    @property
    def images(self) -> int:
        """The number of images of a task, support and queries."""
        return self.way * self.shot + self.queries_in_all


@dataclass(frozen=True)
class EpisodeSettings(TaskShape):
    """The tasks of training: their shape, which may vary from update to update."""

    most_way: int | None = None
    """Draw the number of classes of each task between `way` and this."""
    most_shot: int | None = None
    """Draw the number of shots of each task between `shot` and this."""

    def __post_init__(self) -> None:
        check_at_least(self, 2, ("way",), prefix="episodes.")
        check_at_least(self, 1, ("shot",), prefix="episodes.")
        check_at_least(self, 0, ("queries",), prefix="episodes.")
        _check_most("way", self.way, self.most_way)
        _check_most("shot", self.shot, self.most_shot)


def _check_most(name: str, least: int, most: int | None) -> None:
    if most is not None and most < least:
        raise SettingsError(
            f"--episodes.most-{name} must be at least --episodes.{name}, which is {least}, "
            f"but is {most}."
        )


@dataclass(frozen=True)
class Protocol(TaskShape):
    """How a model is measured; printed with every result. The defaults are the paper's."""

    episodes: int = 5000
    """Number of tasks."""
    samples: int = 1000
    """Sampled classifiers for the predictive distribution."""
    seed: int = 0
    """Seed of the tasks and of the samples."""
    split: Literal["test", "val", "train"] = "test"
    """Which split of the data the tasks come from."""
    norm: Literal["as trained", "running", "episode"] = "as trained"
    """Batch norm at test time; `episode` is transductive."""
    outside: int = 0
    """Queries in each task from classes outside it ("none of these"); needs running norm."""
    quasi: bool = False
    """Quasi-random samples: 128 (linear) or 256 (cosine) are as exact as 1000 random ones."""

    def __post_init__(self) -> None:
        check_at_least(self, 2, ("way",))
        check_at_least(self, 1, ("shot", "queries", "episodes", "samples"))
        check_at_least(self, 0, ("outside",))
        if self.samples > MOST_SAMPLES:
            raise SettingsError(f"--samples must be at most {MOST_SAMPLES}, but is {self.samples}.")

    @property
    def tasks(self) -> EpisodeSettings:
        """The shape of its tasks."""
        return EpisodeSettings(self.way, self.shot, self.queries, self.pooled_queries)

    def __str__(self) -> str:
        queries = f"{self.queries} queries per class"
        if self.pooled_queries:
            queries = f"{self.queries} queries in all"
        if self.outside:
            queries += f" + {self.outside} from outside"
        samples = f"{self.samples} samples"
        if self.quasi:
            samples = f"{self.samples} quasi-random samples"
        shape = f"{self.way}-way {self.shot}-shot, {self.episodes} tasks x {queries}"
        return f"{shape}, {samples}, {self.split} classes, seed {self.seed}"


def named_protocol(name: Literal["paper", "tadam", "versa"], shot: int, **others: Any) -> Protocol:
    """Return a protocol of the paper's tables.

    "paper" is the paper's own, "tadam" has 100 queries in all, "versa" as many queries as shots.

    >>> named_protocol("versa", 5).queries
    5
    """
    if name == "tadam":
        return Protocol(shot=shot, queries=100, pooled_queries=True, **others)
    if name == "versa":
        return Protocol(shot=shot, queries=shot, episodes=600, **others)
    return Protocol(shot=shot, **others)
