"""Which classes are for train, val and test: published lists, and splits of a user's classes."""

import json
import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Literal

from samovar.core.randomness import generator
from samovar.core.stored_json import read_json
from samovar.data.store import SPLITS
from samovar.errors import DataError, UnreadableError

LARGEST_SPLIT = 64 * 2**20
"""Bytes of a split file."""
Split = dict[str, list[str]]
"""The class names of train, val and test."""


def published(name: str) -> Split:
    """Return a published list of classes: miniimagenet, cifar_fs, fc100 or omniglot_vinyals."""
    text = files("samovar.data").joinpath("splits.json").read_text()
    lists: dict[str, Split] = json.loads(text)
    return lists[name]


def class_names(split: Split) -> set[str]:
    """Return the names of all classes of a split.

    >>> sorted(class_names({"train": ["cat", "dog"], "test": ["owl"]}))
    ['cat', 'dog', 'owl']
    """
    return set().union(*split.values())


def restricted(split: Split, present: set[str]) -> Split:
    """Return the split without the classes that are not present.

    >>> restricted({"train": ["cat", "dog"], "test": ["owl"]}, {"dog", "owl"})
    {'train': ['dog'], 'test': ['owl']}
    """
    kept = {}
    for split_name, names in split.items():
        kept[split_name] = [name for name in names if name in present]
    return kept


def by_count(names: Sequence[str], train: int, val: int, seed: int, purpose: str) -> Split:
    """Split at random by a seed: `train` classes, `val` classes, and the rest for test."""
    order = generator(seed, f"split {purpose}").permutation(len(names))
    shuffled = [names[position] for position in order]
    return {
        "train": sorted(shuffled[:train]),
        "val": sorted(shuffled[train : train + val]),
        "test": sorted(shuffled[train + val :]),
    }


def by_fraction(names: Sequence[str], fractions: tuple[float, float, float], seed: int) -> Split:
    """Split at random by a seed, with these shares of train, val and test."""
    total = sum(fractions)
    negative = not all(fraction >= 0 for fraction in fractions)  # NaN counts as negative here
    if negative or not 0 < total < math.inf:
        raise DataError(
            "The fractions of train, val and test must be finite, not negative and not all zero, "
            f"but are {fractions}."
        )
    # The ends are rounded and not the sizes, so that rounding errors do not add up.
    train_end = round(len(names) * sum(fractions[:1]) / total)
    val_end = round(len(names) * sum(fractions[:2]) / total)
    return by_count(names, train_end, val_end - train_end, seed, "fraction")


def by_file(path: Path) -> Split:
    """Read a split from a JSON file {"train": [class, ...], "val": [...], "test": [...]}."""
    try:
        content = read_json(path, dict[Literal["train", "val", "test"], list[str]], LARGEST_SPLIT)
    except (OSError, UnreadableError) as error:
        raise DataError(
            f"The split file {path} cannot be read ({error}). It must be JSON of the form "
            f'{{"train": [class, ...], "val": [...], "test": [...]}}.'
        ) from error
    split: Split = {split_name: [] for split_name in SPLITS}
    for split_name, names in content.items():
        split[split_name] = names
    return split
