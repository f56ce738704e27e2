"""Training on a user's own images or vectors: size, split and way are chosen from what is there, and said."""

import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np

from samovar.config import PrepareSettings
from samovar.data.decode import shorter_side
from samovar.data.prepare import prepare
from samovar.data.sources.folder import class_folders, is_presplit
from samovar.data.store import Store
from samovar.errors import DataError
from samovar.run_config import TrainSettings


def prepare_own(settings: TrainSettings, root: Path | None) -> tuple[TrainSettings, list[str]]:
    """Prepare the data at a root and fit the settings to it; also returns what was chosen, in sentences."""
    name = settings.data.name
    if root is None:
        raise DataError(f"The preset {name} needs your data: --root {'FOLDER' if name == 'folder' else 'FILE.npz'}.")
    if name == "features":
        return fit_to(settings, prepare(name, root))
    if not root.is_dir():
        raise DataError(f"There is no folder {root}.")
    presplit = is_presplit(root)
    folders = class_folders(root / "train" if presplit else root)
    chosen = PrepareSettings(size=_size(folders), fractions=(1, 0, 0) if presplit else _fractions(len(folders)))
    return fit_to(settings, prepare(name, root, chosen))


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
    """Settings that this data allows: shape of the input, way, shots and queries."""
    counts = np.array([entry.count for entry in store.classes])
    parts = {part: len(store.split(part)) for part in ("train", "val", "test")}
    if min(parts.values()) < 2:
        raise DataError(
            f"Training needs at least 2 classes in each of train, val and test, but {store.name} has {parts}. "
            "With fewer classes, use a ready-made model instead of training."
        )
    shape = store.facts["shape"]
    if len(shape) == 3:
        backbone = "conv4" if shape[0] <= 32 else "conv5"
        model = replace(settings.model, backbone=backbone, channels=shape[2], size=shape[0])  # type: ignore[arg-type]
    else:
        model = replace(settings.model, backbone="identity", size=shape[0])
    fewest = int(counts.min())
    if fewest < 2:
        short = store.classes[int(counts.argmin())].name
        raise DataError(f"Class {short!r} of {store.name} has {fewest} image; training needs at least 2 of each class.")
    way, test_way = min(settings.episodes.way, parts["train"]), min(5, parts["val"], parts["test"])
    shot = min(settings.episodes.shot, fewest - 1)
    queries = min(settings.episodes.queries, fewest - shot)
    episodes = replace(settings.episodes, way=way, shot=shot, queries=queries)
    validation = replace(settings.validation, way=test_way, shot=shot, queries=min(15, fewest - shot))
    fitted = replace(settings, model=model, episodes=episodes, validation=validation)
    said = [
        f"{store.name}: {len(store.classes)} classes (train / val / test {' / '.join(map(str, parts.values()))}), "
        f"{fewest} to {int(counts.max())} of each, stored as {' x '.join(map(str, shape))}",
        f"training on {way}-way {shot}-shot tasks with {queries} queries per class; validating {test_way}-way",
    ]
    return fitted, said
