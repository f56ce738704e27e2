"""The settings of a training run: one dataclass tree is preset, flags, help, and the file in the run folder."""

import dataclasses
import math
import types
import typing
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from samovar.errors import SettingsError
from samovar.settings.config import AugmentationSettings, EpisodeSettings, ModelSettings, Protocol, check_finite

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class DataSettings:
    """Which data, and how it enters the network."""

    name: str = "glyphs"
    """A prepared data set (`samovar data list`)."""
    scheme: str | None = None
    """The splitting scheme, if not the first (omniglot: vinyals, versa)."""
    rotations: bool = False
    """Turned images are new classes (Omniglot)."""
    normalisation: Literal["standard", "unit"] = "standard"
    """Mean 0 and deviation 1 over the training classes, or only from 0 to 1 (VERSA)."""


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
            raise SettingsError(f"--optimizer.learning-rate must be above 0, but is {self.learning_rate}.")
        if not 0 <= self.momentum < 1:
            raise SettingsError(f"--optimizer.momentum must be from 0 to below 1, but is {self.momentum}.")
        for name in ("clip", *(each.name for each in dataclasses.fields(self) if each.name.startswith("decay"))):
            if not 0 <= getattr(self, name) < math.inf:
                flag = name.replace("_", "-")
                raise SettingsError(f"--optimizer.{flag} must not be negative, but is {getattr(self, name)}.")


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
        tasks, samples = (self.test_tasks, self.test_samples) if test else (self.tasks, self.samples)
        split: Literal["test", "val"] = "test" if test else "val"
        return Protocol(self.way, self.shot, self.queries, episodes=tasks, samples=samples, seed=seed, split=split)


@dataclass(frozen=True)
class Published:
    """A figure of the paper, in percent."""

    table: str
    accuracy: float
    ci95: float


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
                raise SettingsError(f"--{name.replace('_', '-')} must be at least 1, but is {getattr(self, name)}.")
        if self.episodes.queries < 1:
            raise SettingsError("--episodes.queries must be at least 1: the loss is that of the queries.")
        for name in ("every", "tasks", "queries", "samples", "test_tasks", "test_samples"):
            if getattr(self.validation, name) < 1:
                raise SettingsError(f"--validation.{name.replace('_', '-')} must be at least 1.")


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
            raise SettingsError(f"The device is cpu, cuda, mps or auto, but {self.accelerator!r} was asked for.")
        if self.devices < 1 or self.nodes < 1:
            raise SettingsError("--devices and --nodes must be at least 1.")


def from_dict(kind: type[Settings], values: dict[str, Any]) -> Settings:
    """A dataclass tree from the JSON form of `dataclasses.asdict`; unknown names are refused.

    What is not there takes its default: a field that is added later must do by default what was done without it, so
    that stored models, runs and evidence stay readable.

    >>> from_dict(DataSettings, {"name": "omniglot", "rotations": True}).normalisation
    'standard'
    """
    if not isinstance(values, dict):
        raise SettingsError(f"The stored {kind.__name__} is {values!r}, which is not a table of settings.")
    hints = typing.get_type_hints(kind)
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    required = {each.name for each in fields if each.default is each.default_factory is dataclasses.MISSING}
    wrong = sorted(set(values) - {each.name for each in fields} | required - set(values))
    if wrong:
        raise SettingsError(f"The stored {kind.__name__} has unknown or missing fields: {', '.join(wrong)}.")
    return kind(**{name: _value(hints[name], value) for name, value in values.items()})


def _value(hint: Any, value: Any) -> Any:
    """A value of the kind that a field has, or a complaint: files may hold anything."""
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        return from_dict(typing.cast(type, hint), value)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return None if value is None else _value(next(each for each in arguments if each is not type(None)), value)
    if origin is tuple and isinstance(value, list | tuple):
        return tuple(_value(arguments[0], each) for each in value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = value in arguments if origin is Literal else number if hint is float else type(value) is hint
    if not fits:
        raise SettingsError(f"A stored setting is {value!r}, which is not {hint}.")
    return value


def differences(first: Any, second: Any, prefix: str = "") -> list[str]:
    """Fields in which two dataclass trees differ, as flag: old -> new."""
    found = []
    for each in dataclasses.fields(first):
        old, new, name = getattr(first, each.name), getattr(second, each.name), f"{prefix}{each.name}"
        if dataclasses.is_dataclass(old) and type(old) is type(new):
            found += differences(old, new, f"{name}.")
        elif old != new:
            found.append(f"{name}: {old} -> {new}")
    return found
