"""The settings of a training run: one dataclass tree is preset, flags, help, and the file in the run folder."""

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Literal

from samovar.errors import SettingsError
from samovar.settings.checks import check_finite
from samovar.settings.data import AugmentationSettings, DataSettings
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import EpisodeSettings, Protocol


@dataclass(frozen=True)
class OptimizerSettings:
    """How parameters move. Weight decay is part of the gradient before clipping, as in TADAM."""

    kind: Literal["adam", "sgd"] = "adam"
    """Adam (0.9, 0.999), or SGD with momentum."""
    learning_rate: float = 1e-3
    """First step size; the highest with one_cycle."""
    momentum: float = 0.9
    """Momentum of SGD."""
    schedule: Literal["constant", "drops", "one_cycle"] = "one_cycle"
    """Constant; a tenth at each of `drops`; or up for three tenths of the updates and down to zero."""
    drops: tuple[int, ...] = ()
    """Updates after which the step size is divided by ten."""
    clip: float = 0.0
    """Largest norm of a gradient; 0 is without."""
    clip_by: Literal["tensor", "global"] = "tensor"
    """Clip each tensor's gradient by itself, or all by their common norm."""
    decay_extractor: float = 0.0
    """Weight decay of the feature extractor's convolutions."""
    decay_task_embedding: float = 0.0
    """Weight decay of TEN's dense layers."""
    decay_multipliers: float = 0.0
    """Weight decay of TEN's post-multipliers."""
    decay_auxiliary: float = 0.0
    """Weight decay of the auxiliary head."""
    decay_inference: float = 0.0
    """Weight decay of the inference networks."""

    def __post_init__(self) -> None:
        if not 0 < self.learning_rate < math.inf:
            raise SettingsError(
                f"--optimizer.learning-rate must be above 0, but is {self.learning_rate}."
            )
        if not 0 <= self.momentum < 1:
            raise SettingsError(
                f"--optimizer.momentum must be from 0 to below 1, but is {self.momentum}."
            )
        for name in (
            "clip",
            *(each.name for each in dataclasses.fields(self) if each.name.startswith("decay")),
        ):
            if not 0 <= getattr(self, name) < math.inf:
                flag = name.replace("_", "-")
                raise SettingsError(
                    f"--optimizer.{flag} must not be negative, but is {getattr(self, name)}."
                )


@dataclass(frozen=True)
class ValidationSettings:
    """Validation on a fixed set of tasks; the best model is kept. The final test has the same shape."""

    every: int = 250
    """Updates between validations."""
    tasks: int = 200
    """Validation tasks."""
    way: int = 5
    """Classes of a validation task."""
    shot: int = 1
    """Support images of each class."""
    queries: int = 15
    """Queries of each class."""
    samples: int = 10
    """Samples of the classifier."""
    patience: int = 0
    """Stop after so many validations without a new best; 0 is never."""
    test_tasks: int = 1000
    """Tasks of the final test."""
    test_samples: int = 100
    """Samples of the classifier in the final test."""

    def protocol(self, seed: int, *, test: bool = False) -> Protocol:
        """How validation, or the final test, is measured."""
        tasks, samples = (
            (self.test_tasks, self.test_samples) if test else (self.tasks, self.samples)
        )
        split: Literal["test", "val"] = "test" if test else "val"
        return Protocol(
            self.way,
            self.shot,
            self.queries,
            episodes=tasks,
            samples=samples,
            seed=seed,
            split=split,
        )


@dataclass(frozen=True)
class TrainSettings:
    """A training run."""

    data: DataSettings = field(default_factory=DataSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    episodes: EpisodeSettings = field(default_factory=EpisodeSettings)
    tasks: int = 4
    """Tasks in an update."""
    updates: int = 1000
    """Few-shot updates in all."""
    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    augmentation: AugmentationSettings = field(default_factory=AugmentationSettings)
    auxiliary_batch: int = 64
    """Images of an auxiliary update (with `model.auxiliary_classes`)."""
    validation: ValidationSettings = field(default_factory=ValidationSettings)
    checkpoint_every: int = 250
    """Updates between checkpoints."""
    trace_every: int = 25
    """Updates between lines of metrics.jsonl."""
    precision: Literal["32-true", "bf16-mixed"] = "32-true"
    """Number format."""
    seed: int = 0
    """Every random number of the run is a function of this."""

    def __post_init__(self) -> None:
        check_finite(self)
        for name in ("tasks", "updates", "auxiliary_batch", "checkpoint_every", "trace_every"):
            if getattr(self, name) < 1:
                raise SettingsError(
                    f"--{name.replace('_', '-')} must be at least 1, but is {getattr(self, name)}."
                )
        if self.episodes.queries < 1:
            raise SettingsError(
                "--episodes.queries must be at least 1: the loss is that of the queries."
            )
        for name in ("every", "tasks", "queries", "samples", "test_tasks", "test_samples"):
            if getattr(self.validation, name) < 1:
                raise SettingsError(f"--validation.{name.replace('_', '-')} must be at least 1.")

    @property
    def images_per_update(self) -> int:
        """The support and query images of the tasks of one update, without auxiliary images.

        >>> TrainSettings(episodes=EpisodeSettings(way=5, shot=1, queries=15), tasks=4).images_per_update
        320
        """
        queries = self.episodes.queries
        if not self.episodes.pooled_queries:
            queries *= self.episodes.way
        return self.tasks * (self.episodes.way * self.episodes.shot + queries)


@dataclass(frozen=True)
class Devices:
    """Where to train; not part of what is trained. Under torchrun and SLURM each launched process is one device."""

    accelerator: str = "auto"
    """cpu, cuda, mps, or auto, which takes a GPU where there is one."""
    devices: int = 1
    """Processes on each host, one for each GPU."""
    nodes: int = 1
    """Hosts."""

    def __post_init__(self) -> None:
        if self.accelerator not in ("auto", "cpu", "cuda", "mps"):
            raise SettingsError(
                f"The device is cpu, cuda, mps or auto, but {self.accelerator!r} was asked for."
            )
        if self.devices < 1 or self.nodes < 1:
            raise SettingsError("--devices and --nodes must be at least 1.")
