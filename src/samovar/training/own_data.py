"""Training on a user's own images or vectors.

Nobody should have to know the number of classes or the size of their images to start: input size,
split, network and shape of the tasks are chosen from the data, and the user is told. What the user
asks for by a flag is kept where the data allow it.
"""

import re
import statistics
from dataclasses import dataclass, replace
from pathlib import Path

from samovar.core.progress import Progress, silent
from samovar.data.images.decode import shorter_side
from samovar.data.preparation import prepare, ready
from samovar.data.sources.folder import class_folders, is_presplit
from samovar.data.store import SPLITS, Store, data_folder, open_store
from samovar.encoders.encoder_facts import encoder_of
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import EpisodeSettings
from samovar.settings.training import TrainSettings, ValidationSettings
from samovar.training.own_defaults import Flags, choose

SIDES = {48: 32, 74: 64}
"""Images whose shorter side is below the first number of pixels are stored at the second."""


@dataclass(frozen=True)
class OwnData:
    """A user's data, prepared, and the settings that were fitted to it."""

    settings: TrainSettings
    notes: list[str]
    """What was chosen, in sentences for the user."""
    init: str | None = None
    """The shipped model to start from, unless the user says otherwise."""


def prepare_own(
    kind: str,
    settings: TrainSettings,
    root: Path | None,
    given: Flags = frozenset(),
    init: str | None = None,
    progress: Progress = silent,
) -> OwnData:
    """Prepare the data at `root` and fit the settings to it; without a root, to prepared data.

    `kind` is "folder" or "features". The prepared data is called `settings.data.name`, or after
    the root if that is left at its default. `given` are the flags that the user has set: all else
    may be chosen. `init` is what the user wants to start from, if anything.
    """
    store = _prepared(kind, settings, root, given, progress)
    fitted, notes = fit_to(settings, store)
    chosen = choose(fitted, store, given, init)
    return OwnData(chosen.settings, [*notes, *chosen.notes], chosen.init)


def _prepared(
    kind: str, settings: TrainSettings, root: Path | None, given: Flags, progress: Progress
) -> Store:
    name = settings.data.name
    if root is None:
        if name == kind and not (data_folder() / name).exists():
            place = "FOLDER" if kind == "folder" else "FILE.npz"
            raise DataError(
                f"The preset {kind} needs your data: --root {place}, "
                "or --data.name with the name of prepared data."
            )
        return ready(name)
    if kind == "features":
        if name == kind:
            name = own_name(kind, root)
        return prepare(kind, root, store_name=name, progress=progress)
    if not root.is_dir():
        raise DataError(f"There is no folder {root}.")
    choices = _choices(root, settings.model, size_is_given="model.size" in given)
    if name == kind:
        name = folder_name(root, choices)
    return prepare(kind, root, choices, store_name=name, progress=progress)


def own_name(kind: str, root: Path) -> str:
    """Return what the prepared data of a user's file is called.

    >>> own_name("features", Path("my photos.npz"))
    'features-my-photos'
    """
    return f"{kind}-{_plain(root)}"


def folder_name(root: Path, choices: PrepareSettings) -> str:
    """Return what the prepared images of a user's folder are called: each size has its own name.

    Earlier versions left the size out; what they prepared in this size is used.

    >>> folder_name(Path("my photos"), PrepareSettings(size=32))
    'folder-my-photos-32px'
    """
    earlier = own_name("folder", root)
    if _is_prepared(earlier, root, choices):
        return earlier
    name = f"{earlier}-{choices.size}px"
    if choices.colour == "grey":
        name += "-grey"
    return name


def _is_prepared(name: str, root: Path, choices: PrepareSettings) -> bool:
    """Return whether the data of this name was made from this folder by the same choices."""
    try:
        options = open_store(name).facts["options"]
    except DataError:
        return False
    wanted = {"size": choices.size, "colour": choices.colour, "root": str(root.resolve())}
    return {key: options.get(key) for key in wanted} == wanted


def _plain(root: Path) -> str:
    """Return the name of a file or folder without what a data set's name may not contain."""
    return re.sub(r"[^\w-]+", "-", root.resolve().name.removesuffix(".npz")).strip("-")


def _choices(root: Path, model: ModelSettings, *, size_is_given: bool) -> PrepareSettings:
    """Choose how a folder of images is prepared."""
    presplit = is_presplit(root)
    folders = class_folders(root / "train" if presplit else root, root)
    size = model.size
    # Another value than the preset's was asked for, in Python.
    if size == PrepareSettings.size and not size_is_given:
        size = _size([images[0] for _, images in folders])
    fractions = _fractions(len(folders))
    if presplit:
        fractions = (1, 0, 0)
    return PrepareSettings(
        size=size,
        colour="grey" if model.channels == 1 else "rgb",
        fractions=fractions,
    )


def _fractions(classes: int) -> tuple[float, float, float]:
    """Return 64, 16 and 20 % of the classes, but if possible at least two for each split."""
    validation = max(2, round(0.16 * classes))
    test = max(2, round(0.2 * classes))
    return max(0, classes - validation - test), validation, test


def _size(images: list[Path]) -> int:
    """Return 32, 64 or 84 pixels, by the median of the images' shorter sides."""
    if not images:
        return PrepareSettings.size
    median = statistics.median(shorter_side(image) for image in images)
    for limit, size in SIDES.items():
        if median < limit:
            return size
    return PrepareSettings.size


@dataclass(frozen=True)
class _Amounts:
    """How much data there is."""

    classes: dict[str, int]
    """Classes in each split."""
    fewest: int
    """Images in the smallest class."""
    most: int
    """Images in the largest class."""


def fit_to(settings: TrainSettings, store: Store) -> tuple[TrainSettings, list[str]]:
    """Return settings that this data allows, and sentences that say what was chosen.

    The input is as it is stored; way, shots and queries are as asked for, or the most that the
    data has. CONV-4 becomes CONV-5 for images of more than 32 pixels; other backbones stay.
    """
    amounts = _amounts(store)
    model = _model(settings.model, store.facts["shape"])
    episodes = _episodes(settings.episodes, amounts)
    validation = _validation(settings.validation, amounts)
    data = replace(settings.data, name=store.name)
    fitted = replace(settings, data=data, model=model, episodes=episodes, validation=validation)
    splits = " / ".join(map(str, amounts.classes.values()))
    shape = " x ".join(map(str, store.facts["shape"]))
    kind = "images" if len(store.facts["shape"]) == 3 else "vectors"
    network = ""
    if model.backbone != settings.model.backbone:
        network = f"; the network is {model.backbone}"
    notes = [
        f"{store.name}: {len(store.classes)} classes (train / val / test {splits}) with "
        f"{amounts.fewest} to {amounts.most} {kind} each, stored as {shape}{network}",
        f"training on {episodes.way}-way {episodes.shot}-shot tasks with {episodes.queries} "
        f"queries per class; validating on {validation.way}-way {validation.shot}-shot tasks "
        f"with {validation.queries} queries per class",
    ]
    encoder = encoder_of(store)
    if encoder is not None:
        notes.append(f"the vectors are those of {encoder.name}; the model will take images, too")
    return fitted, notes


def _amounts(store: Store) -> _Amounts:
    """Count the data, and refuse too little of it."""
    classes = {split: len(store.split(split)) for split in SPLITS}
    if min(classes.values()) < 2:
        counts = ", ".join(f"{count} in {split}" for split, count in classes.items())
        raise DataError(
            f"Training needs at least 2 classes in each of train, val and test, but {store.name} "
            f"has {counts}. With fewer classes, use a ready-made model instead of training."
        )
    smallest = min(store.classes, key=lambda entry: entry.count)
    if smallest.count < 2:
        raise DataError(
            f"Class {smallest.name!r} of {store.name} has {smallest.count} image; "
            "training needs at least 2 of each class."
        )
    return _Amounts(classes, smallest.count, max(entry.count for entry in store.classes))


def _model(asked: ModelSettings, shape: list[int]) -> ModelSettings:
    if len(shape) != 3:
        return replace(asked, backbone="identity", size=shape[0])
    backbone = asked.backbone
    if backbone == "conv4" and shape[0] > 32:
        backbone = "conv5"
    return replace(asked, backbone=backbone, channels=shape[2], size=shape[0])


def _episodes(asked: EpisodeSettings, amounts: _Amounts) -> EpisodeSettings:
    shot = min(asked.shot, amounts.fewest - 1)  # at least one image is left for a query
    return replace(
        asked,
        way=min(asked.way, amounts.classes["train"]),
        shot=shot,
        queries=min(asked.queries, amounts.fewest - shot),
    )


def _validation(asked: ValidationSettings, amounts: _Amounts) -> ValidationSettings:
    shot = min(asked.shot, amounts.fewest - 1)
    return replace(
        asked,
        way=min(asked.way, amounts.classes["val"], amounts.classes["test"]),
        shot=shot,
        queries=min(asked.queries, amounts.fewest - shot),
    )
