"""Settings of a model: SAMOVAR, VERSA, TADAM or prototypes."""

from dataclasses import dataclass
from typing import Literal

from samovar.errors import SettingsError
from samovar.settings.checks import check_finite


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
            refuse(
                "Separate networks are for --method samovar without ResNet-12, the ablation of Table 1."
            )
        if self.backbone == "conv5" and self.size < 32:
            refuse(
                f"--backbone conv5 halves images five times, so --size must be at least 32, but is {self.size}."
            )
        if not 0 <= self.dropout < 1 or (self.dropout and self.backbone not in ("conv4", "conv5")):
            refuse("--dropout must be from 0 to below 1, and only CONV has it.")
        if (
            (self.beta is not None and self.beta < 0)
            or self.alpha <= 0
            or min(self.samples, self.channels, self.size, self.width) < 1
        ):
            refuse(
                "--beta must not be negative; --alpha, --samples, --channels, --size and --width must be positive."
            )

    @property
    def input_shape(self) -> tuple[int, ...] | None:
        """Of a stored image (H, W, C) or vector (d,); a module of the user's own may take anything."""
        if self.backbone == "custom":
            return None
        return (
            (self.size,) if self.backbone == "identity" else (self.size, self.size, self.channels)
        )
