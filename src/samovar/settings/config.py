"""Settings as dataclasses: each is at once the Python API, the command line's flags and their help text.

This room imports nothing but the errors, so that `samovar --help` need not load torch.
"""

import math
from dataclasses import asdict, dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal

from samovar.errors import SettingsError

MOST_SAMPLES = 1_000_000
"""Sampled classifiers, a hundred times the paper's largest number: a bound for slips of the keyboard."""


def check_finite(settings: Any) -> None:
    """Refuse settings with a number that is none or infinite: comparisons with it let it pass every other check."""
    for name, value in vars(settings).items():
        if isinstance(value, float) and not math.isfinite(value):
            raise SettingsError(f"--{name.replace('_', '-')} must be a finite number, but is {value}.")
        if is_dataclass(value):
            check_finite(value)


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
            if name not in ("fresh", "seed") and not all(math.isfinite(x) and x > 0 for x in values):
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


@dataclass(frozen=True)
class PrepareSettings:
    """How to prepare a user's own data (the benchmarks have nothing to choose)."""

    size: int = 84
    """Height and width of the stored images in pixels, after a central square crop (folder)."""
    colour: Literal["rgb", "grey"] = "rgb"
    """Colour or grey images (folder)."""
    inverted: bool = False
    """Store dark ink on white paper as bright ink on black (folder)."""
    fractions: tuple[float, float, float] = (0.64, 0.16, 0.2)
    """Shares of the classes for train, val and test, unless they are given in another way (folder, features)."""
    split_file: Path | None = None
    """JSON file {"train": [class, ...], "val": [...], "test": [...]} instead of fractions (folder, features)."""
    seed: int = 0
    """Seed of the split by fractions."""

    def __post_init__(self) -> None:
        if not 1 <= self.size <= 1024:
            raise SettingsError(f"--size must be from 1 to 1024 pixels, but is {self.size}.")


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
                raise SettingsError(f"--{name} must be at least {least}, but is {getattr(self, name)}.")
        for name in ("way", "shot"):
            most = getattr(self, f"most_{name}")
            if most is not None and most < getattr(self, name):
                raise SettingsError(f"--most-{name} must be at least --{name}, but is {most}.")


@dataclass(frozen=True)
class AugmentationSettings:
    """Random changes of training images; strengths as MetaOptNet has them, since the paper gives none."""

    flip: bool = False
    """Mirror half of the images."""
    crop_padding: int = 0
    """Pad by so many pixels on each side and crop at random (4 for 32 pixels, 8 for 84)."""
    jitter: float = 0.0
    """Change brightness, contrast and saturation by factors from 1 - jitter to 1 + jitter (0.4)."""

    def __post_init__(self) -> None:
        if self.crop_padding < 0 or not 0 <= self.jitter <= 1:
            raise SettingsError("--crop-padding must not be negative, and --jitter must be from 0 to 1.")


@dataclass(frozen=True)
class ModelSettings:
    """A model of section 3 or one of its rivals."""

    method: Literal["samovar", "versa", "prototypes"] = "samovar"
    """samovar: variational training; versa: Monte Carlo training; prototypes: deterministic class means (TADAM too)."""
    backbone: Literal["conv4", "conv5", "resnet12", "identity", "custom"] = "conv4"
    """The feature extractor f; identity for ready-made features, custom for a torch module of yours."""
    channels: int = 3
    """Channels of the images (1 is grey)."""
    size: int = 32
    """Height and width of the images; the length of the vectors with `identity` or `custom`."""
    width: int = 64
    """Filters of the first block: all blocks of CONV have as many, those of ResNet-12 x 1, 2, 4, 8."""
    pools: Literal[3, 4] = 3
    """Max-poolings of ResNet-12: TADAM's code has three, its paper four."""
    dropout: float = 0.0
    """Dropout in every block of CONV (VERSA: 0.5 on miniImageNet, 0.1 on Omniglot)."""
    norm: Literal["running", "episode"] = "running"
    """Batch norm: running averages at test (inductive), or each set's own statistics always (VERSA; transductive)."""
    classifier: Literal["linear", "cosine", "euclidean", "squared"] = "linear"
    """linear, scaled cosine (SC); for prototypes: Euclidean distance (TADAM) or its square (Prototypical Networks)."""
    alpha: float = 25.0
    """Scale of the cosine (25; 50 with augmentation) or of the negative distance (TADAM: 7.5, unscaled: 1)."""
    task_embedding: bool = False
    """TEN: condition the features of ResNet-12 on the task."""
    shared: bool = True
    """One inference network for prior and posterior, or two with hidden sizes that even out the parameters."""
    auxiliary_classes: int = 0
    """Classes of the auxiliary co-training task (AT); 0 is without."""
    beta: float | None = None
    """Weight of the KL term in sum NLL + beta * sum KL over a task; if not given, M / (N d) (docs/method.md)."""
    last_skip: bool = True
    """Skip connection around the third layer of ResNet-12's inference networks."""
    samples: int = 10
    """L, the samples of the classifier in training."""
    reduction: Literal["mean", "sum"] = "mean"
    """Divide the objective of a task by its number of queries, or not."""

    def __post_init__(self) -> None:
        check_finite(self)

        def refuse(reason: str) -> None:
            raise SettingsError(reason)

        deterministic = self.method == "prototypes"
        if deterministic != (self.classifier in ("euclidean", "squared")):
            refuse(f"--method {self.method} and --classifier {self.classifier} do not go together.")
        if self.task_embedding and self.backbone != "resnet12":
            refuse("--task-embedding conditions the layers of --backbone resnet12 only.")
        if not self.shared and (self.method != "samovar" or self.backbone == "resnet12"):
            refuse("Separate networks are for --method samovar without ResNet-12, the ablation of Table 1.")
        if self.backbone == "conv5" and self.size < 32:
            refuse(f"--backbone conv5 halves images five times, so --size must be at least 32, but is {self.size}.")
        if not 0 <= self.dropout < 1 or (self.dropout and self.backbone not in ("conv4", "conv5")):
            refuse("--dropout must be from 0 to below 1, and only CONV has it.")
        if (
            (self.beta is not None and self.beta < 0)
            or self.alpha <= 0
            or min(self.samples, self.channels, self.size, self.width) < 1
        ):
            refuse("--beta must not be negative; --alpha, --samples, --channels, --size and --width must be positive.")

    @property
    def input_shape(self) -> tuple[int, ...] | None:
        """Of a stored image (H, W, C) or vector (d,); a module of the user's own may take anything."""
        if self.backbone == "custom":
            return None
        return (self.size,) if self.backbone == "identity" else (self.size, self.size, self.channels)


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
