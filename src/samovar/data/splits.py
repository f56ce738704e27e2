"""Which classes are for training, validation and test: the published lists, and ways to split a user's own classes."""

import json
import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from samovar.core.randomness import generator
from samovar.data.store import SPLITS
from samovar.errors import DataError

Split = dict[str, list[str]]


def published(name: str) -> Split:
    """A published list of classes: miniimagenet, cifar_fs, fc100 or omniglot_vinyals."""
    lists: dict[str, Split] = json.loads(files("samovar.data").joinpath("splits.json").read_text())
    return lists[name]


def by_count(names: Sequence[str], train: int, val: int, seed: int, purpose: str) -> Split:
    """A seeded random split; what train and val leave is for test."""
    order = generator(seed, f"split {purpose}").permutation(len(names))
    shuffled = [names[position] for position in order]
    parts = shuffled[:train], shuffled[train : train + val], shuffled[train + val :]
    return {split: sorted(part) for split, part in zip(SPLITS, parts, strict=True)}


def by_fraction(names: Sequence[str], fractions: tuple[float, float, float], seed: int) -> Split:
    """A seeded random split by the shares of train, val and test."""
    if not all(share >= 0 for share in fractions) or not 0 < sum(fractions) < math.inf:
        raise DataError(
            f"Fractions of train, val and test are numbers from 0 on, not all zero; these are {fractions}."
        )
    train, val = (round(len(names) * sum(fractions[: i + 1]) / sum(fractions)) for i in (0, 1))
    return by_count(names, train, val - train, seed, "fraction")


def by_file(path: Path) -> Split:
    """A split from a JSON file {"train": [class, ...], "val": [...], "test": [...]}."""
    try:
        split = json.loads(path.read_bytes())
        well_formed = isinstance(split, dict) and all(
            part in SPLITS
            and isinstance(names, list)
            and all(isinstance(name, str) for name in names)
            for part, names in split.items()
        )
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"The split file {path} cannot be read ({error}).") from error
    if not well_formed:
        raise DataError(
            f"The split file {path} must be JSON of the form {{train: [class, ...], val: [...], test: [...]}}."
        )
    return {part: split.get(part, []) for part in SPLITS}
