"""The backbones by name.

A new one is a class in a file of its own, and one call of `register_backbone`.
"""

from collections.abc import Callable

from torch import nn

from samovar.errors import SettingsError
from samovar.models.backbones.base import Backbone, Identity
from samovar.models.backbones.conv import Conv
from samovar.models.backbones.resnet12 import ResNet12
from samovar.settings.model import BACKBONES, BackboneTraits, ModelSettings

Builder = Callable[[ModelSettings], Backbone]


def _conv(blocks: int) -> Builder:
    def build(settings: ModelSettings) -> Backbone:
        return Conv(
            blocks,
            channels=settings.channels,
            size=settings.size,
            width=settings.width,
            dropout_rate=settings.dropout,
            norm=settings.norm,
        )

    return build


def _resnet12(settings: ModelSettings) -> Backbone:
    return ResNet12(settings.channels, settings.width, settings.pools, settings.norm)


def _identity(settings: ModelSettings) -> Backbone:
    return Identity(settings.size)


BUILDERS: dict[str, Builder] = {
    "conv4": _conv(4),
    "conv5": _conv(5),
    "resnet12": _resnet12,
    "identity": _identity,
}


OUR_BACKBONES = frozenset(BUILDERS)
"""Those that come with the package; users may register others."""


def register_backbone(name: str, build: Builder, traits: BackboneTraits | None = None) -> None:
    """Make a backbone known, so that `ModelSettings(backbone=name)` can be trained and loaded.

    `build` makes it from the settings. `traits` say what the settings must check; the defaults are
    those of a network for images with neither dropout nor TEN.
    """
    if name in BACKBONES:
        raise SettingsError(f"There is already a backbone called {name!r}. Choose another name.")
    BACKBONES[name] = traits or BackboneTraits()
    BUILDERS[name] = build


def build_backbone(settings: ModelSettings, custom: nn.Module | None) -> tuple[nn.Module, int]:
    """Build the backbone of these settings, and return it with its number of features d.

    `custom` is the user's own torch module, which goes with `backbone="custom"`.
    """
    if (settings.backbone == "custom") != (custom is not None):
        raise SettingsError('Pass a torch module of your own together with backbone="custom".')
    if custom is not None:
        return custom, settings.size
    backbone = BUILDERS[settings.backbone](settings)
    if settings.task_embedding and not backbone.film_widths:
        raise SettingsError(f"The backbone {settings.backbone} cannot be conditioned by TEN.")
    return backbone, backbone.feature_dim
