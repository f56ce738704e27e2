"""Training on a user's own images or vectors: size, split and way are chosen from what is there, and said."""

import re
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np

from samovar.data.images.decode import shorter_side
from samovar.data.preparation import prepare, ready
from samovar.data.sources.folder import class_folders, is_presplit
from samovar.data.store import Store, data_folder
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings
from samovar.settings.training import TrainSettings


def prepare_own(
    kind: str, settings: TrainSettings, root: Path | None
) -> tuple[TrainSettings, list[str]]:
    """Fit the settings to the data at a root, prepared now, or to a store (`--data.name`); what was chosen is said.

    `kind` is folder or features. Without `--data.name` the store is called after the root, so that several are kept.
    """
    name = settings.data.name
    if root is None:
        if name == kind and not (data_folder() / name).exists():
            what = "FOLDER" if kind == "folder" else "FILE.npz"
            raise DataError(
                f"The preset {kind} needs your data: --root {what}, or --data.name of what is prepared."
            )
        return fit_to(settings, ready(name))
    if name == kind:
        plain = re.sub(r"[^\w-]+", "-", root.resolve().name.removesuffix(".npz")).strip("-")
        name = f"{kind}-{plain}"
    if kind == "features":
        return fit_to(settings, prepare(kind, root, store_name=name))
    if not root.is_dir():
        raise DataError(f"There is no folder {root}.")
    presplit = is_presplit(root)
    folders = class_folders(root / "train" if presplit else root, root)
    chosen = PrepareSettings(
        size=_size(folders) if settings.model.size == PrepareSettings.size else settings.model.size,
        colour="grey" if settings.model.channels == 1 else "rgb",
        fractions=(1, 0, 0) if presplit else _fractions(len(folders)),
    )
    return fit_to(settings, prepare(kind, root, chosen, store_name=name))


def _fractions(classes: int) -> tuple[float, float, float]:
    """64, 16 and 20 %, but at least two classes for each part where there are enough."""
    val, test = max(2, round(0.16 * classes)), max(2, round(0.2 * classes))
    return max(0, classes - val - test), val, test


def _size(folders: list[tuple[Path, list[Path]]]) -> int:
    """32, 64 or 84 pixels, by the median of the images' shorter sides."""
    sides = [shorter_side(images[0]) for _, images in folders]
    median = statistics.median(sides) if sides else 84
    return 32 if median < 48 else 64 if median < 74 else 84


def fit_to(settings: TrainSettings, store: Store) -> tuple[TrainSettings, list[str]]:
    """Settings that this data allows: the input as it is stored; way, shots and queries as asked, or the most it has.

    CONV-4 becomes CONV-5 for images of more than 32 pixels; other backbones stay.
    """
    counts = np.array([entry.count for entry in store.classes])
    parts = {part: len(store.split(part)) for part in ("train", "val", "test")}
    if min(parts.values()) < 2:
        raise DataError(
            f"Training needs at least 2 classes in each of train, val and test, but {store.name} has {parts}. "
            "With fewer classes, use a ready-made model instead of training."
        )
    shape = store.facts["shape"]
    if len(shape) == 3:
        model = replace(settings.model, channels=shape[2], size=shape[0])
        if model.backbone == "conv4" and model.size > 32:
            model = replace(model, backbone="conv5")
    else:
        model = replace(settings.model, backbone="identity", size=shape[0])
    fewest = int(counts.min())
    network = "" if model.backbone == settings.model.backbone else f", by {model.backbone}"
    if fewest < 2:
        short = store.classes[int(counts.argmin())].name
        raise DataError(
            f"Class {short!r} of {store.name} has {fewest} image; training needs at least 2 of each class."
        )
    asked, test = settings.episodes, settings.validation
    way, shot = min(asked.way, parts["train"]), min(asked.shot, fewest - 1)
    queries = min(asked.queries, fewest - shot)
    episodes = replace(asked, way=way, shot=shot, queries=queries)
    test_way, test_shot = min(test.way, parts["val"], parts["test"]), min(test.shot, fewest - 1)
    validation = replace(
        test, way=test_way, shot=test_shot, queries=min(test.queries, fewest - test_shot)
    )
    data = replace(settings.data, name=store.name)
    fitted = replace(settings, data=data, model=model, episodes=episodes, validation=validation)
    said = [
        f"{store.name}: {len(store.classes)} classes (train / val / test {' / '.join(map(str, parts.values()))}), "
        f"{fewest} to {int(counts.max())} of each, stored as {' x '.join(map(str, shape))}{network}",
        f"training on {way}-way {shot}-shot tasks with {queries} queries per class; "
        f"validating on {test_way}-way {test_shot}-shot with {validation.queries}",
    ]
    return fitted, said
