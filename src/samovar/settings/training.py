"""The settings of a training run.

One tree of dataclasses serves as the preset, the command-line flags, their help texts, and the file
in the run folder. The docstring under a field is its help text. A field that is added later must by
default do what was done without it, so that stored runs and models stay readable.
"""

import math
from dataclasses import dataclass, field
from typing import Literal

from samovar.errors import SettingsError
from samovar.settings.checks import check_at_least, check_device, check_finite, flag
from samovar.settings.data import AugmentationSettings, DataSettings
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import EpisodeSettings, Protocol

MOST_IMAGES = 1_000_000
"""Images of the tasks of one update; the paper has at most a few hundred."""
NOT_NEGATIVE = (
    "clip",
    "decay_extractor",
    "decay_task_embedding",
    "decay_multipliers",
    "decay_auxiliary",
    "decay_inference",
)
"""Fields of OptimizerSettings that may be zero but not negative."""


@dataclass(frozen=True)
class OptimizerSettings:
    """How parameters are updated. Weight decay enters gradients before clipping, as in TADAM."""

    kind: Literal["adam", "sgd"] = "adam"
    """Adam (0.9, 0.999), or SGD with momentum."""
    learning_rate: float = 1e-3
    """Initial step size; with one_cycle, the highest."""
    momentum: float = 0.9
    """Momentum of SGD."""
    schedule: Literal["constant", "drops", "one_cycle"] = "one_cycle"
    """Constant, divided by ten at each of `drops`, or rising for 30 % of the run, then falling."""
    drops: tuple[int, ...] = ()
    """Updates after which the step size is divided by ten."""
    clip: float = 0.0
    """Largest norm of a gradient; 0 turns clipping off."""
    clip_by: Literal["tensor", "global"] = "tensor"
    """Clip the gradient of each tensor separately, or all gradients by their joint norm."""
    decay_extractor: float = 0.0
    """Weight decay of the feature extractor's convolutions."""
    decay_task_embedding: float = 0.0
    """Weight decay of the dense layers of the task embedding (TEN)."""
    decay_multipliers: float = 0.0
    """Weight decay of the post-multipliers of the task embedding (TEN)."""
    decay_auxiliary: float = 0.0
    """Weight decay of the auxiliary head."""
    decay_inference: float = 0.0
    """Weight decay of the inference networks."""

    def __post_init__(self) -> None:
        # Comparisons with NaN are false, so each check passes only for numbers in range.
        if not 0 < self.learning_rate < math.inf:
            raise SettingsError(
                f"--optimizer.learning-rate must be positive and finite, but is "
                f"{self.learning_rate}."
            )
        if not 0 <= self.momentum < 1:
            raise SettingsError(
                f"--optimizer.momentum must be at least 0 and below 1, but is {self.momentum}."
            )
        for name in NOT_NEGATIVE:
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise SettingsError(
                    f"{flag('optimizer.' + name)} must be finite and not negative, but is {value}."
                )


@dataclass(frozen=True)
class ValidationSettings:
    """Validation on a fixed set of tasks; the best model is tested on tasks of the same shape."""

    every: int = 250
    """Updates between validations."""
    tasks: int = 200
    """Number of validation tasks."""
    way: int = 5
    """Classes in a validation task."""
    shot: int = 1
    """Support images of each class."""
    queries: int = 15
    """Query images of each class."""
    samples: int = 10
    """Sampled classifiers for the predictive distribution."""
    patience: int = 0
    """Stop after this many validations without a new best; 0 never stops early."""
    test_tasks: int = 1000
    """Number of tasks in the final test."""
    test_samples: int = 100
    """Sampled classifiers in the final test."""

    def protocol(self, seed: int, *, test: bool = False) -> Protocol:
        """Return how validation, or the final test, is measured."""
        if test:
            return self._protocol(seed, "test", self.test_tasks, self.test_samples)
        return self._protocol(seed, "val", self.tasks, self.samples)

    def _protocol(
        self, seed: int, split: Literal["test", "val"], episodes: int, samples: int
    ) -> Protocol:
        return Protocol(
            way=self.way,
            shot=self.shot,
            queries=self.queries,
            episodes=episodes,
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
    """Tasks in each update."""
    updates: int = 1000
    """Number of few-shot updates."""
    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    augmentation: AugmentationSettings = field(default_factory=AugmentationSettings)
    auxiliary_batch: int = 64
    """Images in an auxiliary update (with `model.auxiliary_classes`)."""
    validation: ValidationSettings = field(default_factory=ValidationSettings)
    checkpoint_every: int = 250
    """Updates between checkpoints."""
    trace_every: int = 25
    """Updates between lines of metrics.jsonl."""
    precision: Literal["32-true", "bf16-mixed"] = "32-true"
    """Number format: float32 throughout, or bfloat16 where torch's autocast allows it."""
    seed: int = 0
    """Every random number of the run is a function of this seed."""

    def __post_init__(self) -> None:
        check_finite(self)
        counts = ("tasks", "updates", "auxiliary_batch", "checkpoint_every", "trace_every")
        check_at_least(self, 1, counts)
        if self.episodes.queries < 1:
            raise SettingsError(
                "--episodes.queries must be at least 1: the loss is computed on the queries."
            )
        check_at_least(self.validation, 2, ("way",), prefix="validation.")
        measured = ("every", "tasks", "shot", "queries", "samples", "test_tasks", "test_samples")
        check_at_least(self.validation, 1, measured, prefix="validation.")
        if self.images_per_update > MOST_IMAGES:
            raise SettingsError(
                f"An update would have {self.images_per_update:,} images, but at most "
                f"{MOST_IMAGES:,} are possible. Use fewer --tasks, or smaller --episodes."
            )

    @property
    def images_per_update(self) -> int:
        """The support and query images of the tasks of one update, without auxiliary images.

        >>> episodes = EpisodeSettings(way=5, shot=1, queries=15)
        >>> TrainSettings(episodes=episodes, tasks=4).images_per_update
        320
        """
        return self.tasks * self.episodes.images


@dataclass(frozen=True)
class Devices:
    """Where to train. Under torchrun and SLURM each launched process is one device."""

    accelerator: str = "auto"
    """cpu, cuda, mps, or auto, which uses a GPU if there is one."""
    devices: int = 1
    """Processes on each host, one for each GPU."""
    nodes: int = 1
    """Number of hosts."""

    def __post_init__(self) -> None:
        check_device(self.accelerator, self.accelerator)
        if self.devices < 1 or self.nodes < 1:
            raise SettingsError("--devices and --nodes must be at least 1.")
