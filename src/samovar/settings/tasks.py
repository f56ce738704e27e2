"""The shape of few-shot tasks, and the protocols by which models are measured on them."""

from dataclasses import dataclass
from typing import Any, Literal

from samovar.errors import SettingsError

MOST_SAMPLES = 1_000_000
"""Sampled classifiers, a hundred times the paper's largest number: a bound for slips of the keyboard."""


@dataclass(frozen=True)
class EpisodeSettings:
    """The shape of a few-shot task."""

    way: int = 5
    """N, classes in a task."""
    shot: int = 1
    """K, support images of each class."""
    queries: int = 15
    """Query images of each class; of the whole task with `pooled_queries`."""
    pooled_queries: bool = False
    """Draw the queries from the pooled rest of the task's classes, so that a class may get none (TADAM's way)."""
    most_way: int | None = None
    """Draw the number of classes of each task from `way` up to this."""
    most_shot: int | None = None
    """Draw the shots of each task from `shot` up to this."""

    def __post_init__(self) -> None:
        for name, least in (("way", 2), ("shot", 1), ("queries", 0)):
            if getattr(self, name) < least:
                raise SettingsError(
                    f"--{name} must be at least {least}, but is {getattr(self, name)}."
                )
        for name in ("way", "shot"):
            most = getattr(self, f"most_{name}")
            if most is not None and most < getattr(self, name):
                raise SettingsError(f"--most-{name} must be at least --{name}, but is {most}.")


@dataclass(frozen=True)
class Protocol:
    """How a figure is measured; printed with every result. The defaults are the paper's."""

    way: int = 5
    """Classes of a task."""
    shot: int = 1
    """Support images of each class."""
    queries: int = 15
    """Query images of each class; of the whole task with `pooled_queries`."""
    pooled_queries: bool = False
    """Draw the queries from the pooled rest of the task's classes (TADAM's way)."""
    episodes: int = 5000
    """Tasks."""
    samples: int = 1000
    """Samples of the classifier for the predictive."""
    seed: int = 0
    """Which tasks, and which samples."""
    split: Literal["test", "val", "train"] = "test"
    """Which part of the data."""
    norm: Literal["as trained", "running", "episode"] = "as trained"
    """Batch norm at test; `episode` is transductive."""
    outside: int = 0
    """Queries of each task from classes that are not in it ("none of these"); with running norm only."""
    quasi: bool = False
    """Quasi-random samples instead of random ones: 128 (linear) or 256 (cosine) are as good as 1000."""

    def __post_init__(self) -> None:
        if self.outside < 0:
            raise SettingsError("--outside must not be negative.")
        if self.episodes < 1 or self.samples < 1 or self.queries < 1:
            raise SettingsError("--episodes, --samples and --queries must be at least 1.")
        if self.samples > MOST_SAMPLES:
            raise SettingsError(f"--samples must be at most {MOST_SAMPLES}, but is {self.samples}.")
        _ = self.tasks  # checks way and shot

    @property
    def tasks(self) -> EpisodeSettings:
        """The shape of its tasks."""
        return EpisodeSettings(self.way, self.shot, self.queries, self.pooled_queries)

    def __str__(self) -> str:
        queries = f"{self.queries} queries {'in all' if self.pooled_queries else 'per class'}"
        queries += f" + {self.outside} from outside" if self.outside else ""
        kind = "quasi-random " if self.quasi else ""
        shape = f"{self.way}-way {self.shot}-shot, {self.episodes} tasks x {queries}, {self.samples} {kind}samples"
        return f"{shape}, {self.split} classes, seed {self.seed}"


def named_protocol(name: Literal["paper", "tadam", "versa"], shot: int, **others: Any) -> Protocol:
    """The protocols of the paper's tables: its own, TADAM's with 100 queries in all, VERSA's with as many as shots."""
    own: dict[str, dict[str, Any]] = {
        "paper": {},
        "tadam": {"queries": 100, "pooled_queries": True},
        "versa": {"episodes": 600, "queries": shot},
    }
    return Protocol(shot=shot, **own[name], **others)
