"""What is chosen for a user's own data where no flag says otherwise: augmentation and a start.

Both depend on what the images are, so they cannot stand in the preset. The user is told of each
choice in a sentence, with the flag that changes it.
"""

from collections.abc import Set
from dataclasses import dataclass, replace

from samovar.artifacts.locate import locate_model
from samovar.artifacts.saved_model import SavedModel, load_network
from samovar.data.images.conversion import Conversion
from samovar.data.images.looks import looks_of_store
from samovar.data.images.user_images import conversion_of
from samovar.data.store import Store
from samovar.settings.data import AugmentationSettings
from samovar.settings.training import TrainSettings

Flags = Set[str]
"""The flags that the user has given, such as "episodes.shot"."""

NOTHING = "none"
"""The value of --init that starts from random weights."""
STARTS = ("cifar_fs", "omniglot")
"""Shipped networks that a training may start from."""
INPUT_FLAGS = ("model.size", "model.channels")
"""Flags that say what the images are like; any other flag of the model asks for another network."""
FINE_TUNING = 2e-4
"""The highest step size for a network that is trained already: a tenth of the preset's."""
MOST_PADDING = 8


@dataclass(frozen=True)
class Chosen:
    """Settings with what was chosen for the data, and the sentences that say so."""

    settings: TrainSettings
    notes: list[str]
    init: str | None = None
    """The shipped model to start from."""


def choose(settings: TrainSettings, store: Store, given: Flags, init: str | None = None) -> Chosen:
    """Choose augmentation and start; `settings` must fit the data already.

    `init` is the model that the user wants to start from: "none" is none, None leaves the choice.
    """
    start = _start(settings, store, given, init)
    settings = start.settings
    notes = list(start.notes)
    looks = looks_of_store(store)
    asked = any(flag.startswith("augmentation.") for flag in given)
    if looks is not None and looks.photographic and not asked:
        settings, note = _augmented(settings)
        notes.append(note)
    return Chosen(settings, notes, start.init)


def _augmented(settings: TrainSettings) -> tuple[TrainSettings, str]:
    """Mirror and shift photographs: neither changes what they show."""
    padding = min(MOST_PADDING, settings.model.size // 8)
    augmentation = AugmentationSettings(flip=True, crop_padding=padding)
    note = (
        f"training images are mirrored and shifted by up to {padding} pixels at random "
        "(--augmentation.no-flip --augmentation.crop-padding 0 turns it off)"
    )
    return replace(settings, augmentation=augmentation), note


def _start(settings: TrainSettings, store: Store, given: Flags, init: str | None) -> Chosen:
    """Start from the shipped network that takes such images, unless another one is asked for."""
    name = None
    asked = any(flag.startswith("model.") and flag not in INPUT_FLAGS for flag in given)
    if not asked:
        name = starting_model(store)
    if init == NOTHING:
        return Chosen(settings, ["starting from random weights"])
    if init is None and name is None:
        return Chosen(settings, ["starting from random weights: no shipped network fits"])
    if init not in (None, name):
        return Chosen(settings, [f"starting from {init}"], init)
    assert name is not None
    # The user's classes are others than those that the network was co-trained on.
    network = replace(
        _network(name).model.settings, auxiliary_classes=settings.model.auxiliary_classes
    )
    settings = replace(settings, model=network)
    if "optimizer.learning_rate" not in given:
        optimizer = replace(settings.optimizer, learning_rate=FINE_TUNING)
        settings = replace(settings, optimizer=optimizer)
    note = (
        f"starting from the shipped model {name}, with its network and a highest step size of "
        f"{settings.optimizer.learning_rate:g} (--init none starts from random weights)"
    )
    return Chosen(settings, [note], name)


def starting_model(store: Store) -> str | None:
    """Return the shipped network that was trained on images like those of a store, if any."""
    for name in STARTS:
        if _alike(_network(name).conversion, conversion_of(store)):
            return name
    return None


def _network(name: str) -> SavedModel:
    return load_network(locate_model(name))


def _alike(first: Conversion | None, second: Conversion | None) -> bool:
    """Return whether images have the same size and colours; how they were resized is a detail."""
    if first is None or second is None:
        return False
    return replace(first, resampling=second.resampling) == second
