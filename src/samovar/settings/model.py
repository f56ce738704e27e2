"""Settings of a model: SAMOVAR, VERSA, TADAM or prototypes.

A model is named by strings (`method`, `backbone`, `classifier`) because they are flags and stored
in files. What the strings stand for is registered in `samovar.models`; what must be known of them
to check settings without torch is registered here, by the same call.
"""

from dataclasses import dataclass, field
from typing import Literal

from samovar.errors import SettingsError
from samovar.settings.checks import check_finite
from samovar.settings.stored import LATER


@dataclass(frozen=True)
class BackboneTraits:
    """What the settings must know of a backbone."""

    takes: Literal["images", "vectors", "anything"] = "images"
    """What it is given: images, ready-made vectors, or whatever a user's own module accepts."""
    smallest_size: int = 1
    """The smallest image, in pixels, that it can take."""
    has_dropout: bool = False
    """Whether it has dropout layers."""
    has_films: bool = False
    """Whether its convolutions can be conditioned on the task (TEN)."""
    inference: Literal["mlp", "residual"] = "mlp"
    """The inference networks that go with it: VERSA's (appendix A.1) or the residual ones (A.2)."""


@dataclass(frozen=True)
class MethodTraits:
    """What the settings must know of a method."""

    deterministic: bool = False
    """Whether it classifies by class means, without a distribution over the weights."""
    has_posterior: bool = False
    """Whether its training infers the posterior q(w | D, D~) beside the prior p(w | D)."""


BACKBONES: dict[str, BackboneTraits] = {
    "conv4": BackboneTraits(has_dropout=True),
    "conv5": BackboneTraits(has_dropout=True, smallest_size=32),
    "resnet12": BackboneTraits(has_films=True, inference="residual"),
    "identity": BackboneTraits(takes="vectors"),
    "custom": BackboneTraits(takes="anything"),
}
"""The backbones that can be named; `samovar.models.register_backbone` adds to them."""

METHODS: dict[str, MethodTraits] = {
    "samovar": MethodTraits(has_posterior=True),
    "versa": MethodTraits(),
    "prototypes": MethodTraits(deterministic=True),
}
"""The methods that can be named; `samovar.models.register_objective` adds to them."""


def balanced_beta(queries: int, way: int, feature_dim: int) -> float:
    """Return M / (N d), the beta that gives equal weight to the mean NLL and the mean KL.

    The NLL is a sum over M queries and the KL a sum over N classes and d dimensions.

    >>> balanced_beta(queries=75, way=5, feature_dim=256)
    0.05859375
    """
    return queries / (way * feature_dim)


@dataclass(frozen=True)
class ModelSettings:
    """A model of section 3 or one of its rivals."""

    method: str = "samovar"
    """samovar (variational), versa (Monte Carlo) or prototypes (class means, as in TADAM)."""
    backbone: str = "conv4"
    """The feature extractor f: conv4, conv5, resnet12, identity (for vectors) or custom (yours)."""
    channels: int = 3
    """Channels of the images; 1 is grey."""
    size: int = 32
    """Height and width of the images; the length of the vectors with `identity` or `custom`."""
    width: int = 64
    """Filters of the first block; CONV keeps them, ResNet-12 has 1, 2, 4 and 8 times as many."""
    pools: Literal[3, 4] = 3
    """Max-pooling layers of ResNet-12: TADAM's code has three, its paper four."""
    dropout: float = 0.0
    """Dropout in every block of CONV (VERSA: 0.5 on miniImageNet, 0.1 on Omniglot)."""
    norm: Literal["running", "episode"] = "running"
    """Batch norm at test: running averages, or each set's own statistics (VERSA; transductive)."""
    classifier: Literal["linear", "cosine", "euclidean", "squared"] = "linear"
    """linear or cosine (SC); for prototypes the euclidean distance (TADAM) or its square."""
    alpha: float = 25.0
    """Scale of the cosine (25; 50 with augmentation) or of the distance (TADAM 7.5, plain 1)."""
    task_embedding: bool = False
    """Condition the features of ResNet-12 on the task (TEN)."""
    shared: bool = True
    """Use one inference network for prior and posterior; else two, with as many parameters."""
    auxiliary_classes: int = 0
    """Classes of the auxiliary co-training task (AT); 0 trains without it."""
    beta: float | None = None
    """Weight of the KL in sum NLL + beta * sum KL; M / (N d) if not given (docs/method.md)."""
    last_skip: bool = True
    """Skip connection around the third layer of ResNet-12's inference networks."""
    samples: int = 10
    """L, the number of classifiers that are sampled in training."""
    reduction: Literal["mean", "sum"] = "mean"
    """Divide the objective of a task by its number of queries, or not."""
    inference: Literal["mlp", "residual"] | None = field(default=None, metadata=LATER)
    """The inference networks: VERSA's (mlp) or residual; those of the backbone if not given."""
    count_input: bool = field(default=False, metadata=LATER)
    """Tell the inference networks how many images each class mean is the mean of."""
    log_variance_skip: bool = field(default=True, metadata=LATER)
    """Skip connection around the third layer of the residual network of the log-variance."""
    first_log_variance: float = field(default=0.0, metadata=LATER)
    """First bias of the log-variance of the weights, in residual inference networks."""

    def __post_init__(self) -> None:
        check_finite(self, prefix="model.")
        self._check_names()
        self._check_method()
        self._check_inference()
        self._check_backbone()
        self._check_numbers()

    def _check_names(self) -> None:
        if self.backbone not in BACKBONES:
            names = ", ".join(BACKBONES)
            raise SettingsError(
                f"There is no backbone called {self.backbone!r} (--model.backbone). "
                f"Choose one of {names}."
            )
        if self.method not in METHODS:
            names = ", ".join(METHODS)
            raise SettingsError(
                f"There is no method called {self.method!r} (--model.method). "
                f"Choose one of {names}."
            )

    def _check_method(self) -> None:
        distances = self.classifier in ("euclidean", "squared")
        if self.deterministic != distances:
            raise SettingsError(
                f"--model.method {self.method} and --model.classifier {self.classifier} do not go "
                "together: prototypes have a distance, the other methods linear or cosine."
            )
        separable = METHODS[self.method].has_posterior and self.inference_kind == "mlp"
        if not self.shared and not separable:
            raise SettingsError(
                "Separate networks (--model.no-shared) are for --model.method samovar without "
                "ResNet-12, the ablation of Table 1."
            )

    def _check_inference(self) -> None:
        if self.deterministic and (self.count_input or self.inference):
            raise SettingsError(
                f"--model.method {self.method} has no inference network. Leave out "
                "--model.count-input and --model.inference."
            )
        starts_elsewhere = self.first_log_variance != 0 or not self.log_variance_skip
        if starts_elsewhere and self.inference_kind != "residual":
            raise SettingsError(
                "--model.first-log-variance and --model.no-log-variance-skip are for residual "
                "inference networks (--model.inference residual)."
            )

    def _check_backbone(self) -> None:
        if self.task_embedding and not self.traits.has_films:
            raise SettingsError("--model.task-embedding works with --model.backbone resnet12 only.")
        if self.size < self.traits.smallest_size:
            raise SettingsError(
                f"--model.backbone {self.backbone} needs images of at least "
                f"{self.traits.smallest_size} pixels, but --model.size is {self.size}."
            )
        if not 0 <= self.dropout < 1:
            raise SettingsError(
                f"--model.dropout must be at least 0 and below 1, but is {self.dropout}."
            )
        if self.dropout and not self.traits.has_dropout:
            raise SettingsError(
                f"--model.backbone {self.backbone} has no dropout. Leave out --model.dropout."
            )

    def _check_numbers(self) -> None:
        if self.beta is not None and self.beta < 0:
            raise SettingsError(f"--model.beta must not be negative, but is {self.beta}.")
        for name in ("alpha", "samples", "channels", "size", "width"):
            value = getattr(self, name)
            if value <= 0:
                raise SettingsError(f"--model.{name} must be positive, but is {value}.")

    @property
    def traits(self) -> BackboneTraits:
        """What is known of the backbone."""
        return BACKBONES[self.backbone]

    @property
    def inference_kind(self) -> Literal["mlp", "residual"]:
        """The kind of inference networks, which the backbone decides if the settings do not."""
        return self.inference or self.traits.inference

    @property
    def deterministic(self) -> bool:
        """Whether the classifier has no variance to sample."""
        return METHODS[self.method].deterministic

    @property
    def input_shape(self) -> tuple[int, ...] | None:
        """The shape of a stored image (H, W, C) or vector (d,).

        None for a module of the user's own, which may take anything.
        """
        if self.traits.takes == "anything":
            return None
        if self.traits.takes == "vectors":
            return (self.size,)
        return (self.size, self.size, self.channels)
