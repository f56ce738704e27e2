"""Few-shot tasks as indices into a data set.

Episode i of a seed is a pure function of (seed, i), the same in every process and in any batch.
Classes are drawn without replacement; support and query are disjoint.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from samovar.core.randomness import generator
from samovar.data.dataset import Dataset, Indices
from samovar.errors import DataError
from samovar.settings.tasks import EpisodeSettings


@dataclass(frozen=True)
class Episodes:
    """T tasks of one shape, as indices into a data set.

    classes: (T, N), positions in the data set; support and support_labels: (T, N * K); query and
    query_labels: (T, Q). Labels are 0 .. N - 1, the positions in `classes`.
    """

    classes: Indices
    support: Indices
    support_labels: Indices
    query: Indices
    query_labels: Indices


class _Episode(NamedTuple):
    """One task: classes (N,), support (N * K,), query and its labels (Q,)."""

    classes: Indices
    support: Indices
    query: Indices
    query_labels: Indices


class EpisodeSampler:
    """Draws episodes of a data set.

    With `EpisodeSettings(way=5, shot=1, queries=15)`, `draw(first=0, count=4).support` is (4, 5)
    and `.query` (4, 75).

    Where way or shot have a range, `group` consecutive episodes share one shape, so that they can
    form a batch.
    """

    def __init__(
        self, dataset: Dataset, settings: EpisodeSettings, seed: int, *, group: int = 1
    ) -> None:
        self.dataset = dataset
        self.settings = settings
        self.seed = seed
        self.group = group
        self._purpose = f"episodes {dataset.split_name}"
        self._check()

    def _check(self) -> None:
        """Refuse settings for which some episode could not be drawn."""
        settings = self.settings
        description = self.dataset.description
        counts = self.dataset.counts
        way = settings.most_way or settings.way
        shot = settings.most_shot or settings.shot
        if len(self.dataset) < way:
            raise DataError(
                f"{description} has too few classes for {way}-way tasks. Use a smaller way, or "
                "more data."
            )
        # Pooled queries come from all classes of the task. To be drawn at all, a class needs one
        # image besides its support.
        needed = shot + settings.queries
        if settings.pooled_queries:
            needed = shot + 1
        smallest = int(np.argmin(counts))
        if counts[smallest] < needed:
            raise DataError(
                f"Class {self.dataset.class_names[smallest]!r} of {description} has "
                f"{counts[smallest]} images, but tasks need {needed} (shot + queries). "
                "Use fewer shots or queries, add images, or leave the class out."
            )
        # The worst task has the smallest classes, as few and with as many shots as can be drawn.
        left = (np.sort(counts)[: settings.way] - shot).sum()
        if settings.pooled_queries and left < settings.queries:
            raise DataError(
                f"The smallest classes of {description} leave too few images for "
                f"{settings.queries} queries. Use fewer queries."
            )

    def shape(self, episode: int) -> tuple[int, int]:
        """Return way and shot of an episode."""
        settings = self.settings
        if settings.most_way is None and settings.most_shot is None:
            return settings.way, settings.shot
        # The same for all episodes of a group.
        noise = generator(self.seed, f"{self._purpose} shape", episode // self.group)
        way = noise.integers(settings.way, (settings.most_way or settings.way) + 1)
        shot = noise.integers(settings.shot, (settings.most_shot or settings.shot) + 1)
        return int(way), int(shot)

    def draw(self, first: int, count: int) -> Episodes:
        """Return the episodes first .. first + count - 1, which must share one shape."""
        numbers = range(first, first + count)
        shapes = {self.shape(number) for number in numbers}
        if len(shapes) > 1:
            raise ValueError(
                f"episodes {first} to {first + count - 1} have several shapes; draw within groups"
            )
        way, shot = shapes.pop()
        episodes = [self._draw_one(number, way, shot) for number in numbers]
        classes, support, query, query_labels = map(np.stack, zip(*episodes, strict=True))
        support_labels = np.broadcast_to(np.repeat(np.arange(way), shot), support.shape)
        return Episodes(classes, support, support_labels, query, query_labels)

    def _draw_one(self, number: int, way: int, shot: int) -> _Episode:
        """Give every image of the task's classes a random key, and draw the lowest keys."""
        noise = generator(self.seed, self._purpose, number)
        classes = noise.permutation(len(self.dataset))[:way]
        counts = self.dataset.counts[classes]
        starts = self.dataset.starts[classes]
        # One row for each class. Rows of smaller classes end with keys that are never drawn.
        absent = np.arange(counts.max()) >= counts[:, None]
        keys = np.where(absent, np.inf, noise.random(absent.shape))
        queries = self.settings.queries
        if self.settings.pooled_queries:
            order = _lowest(keys, shot)
            # New keys: those that the support left over are higher than chance would have them.
            keys = np.where(absent, np.inf, noise.random(absent.shape))
            np.put_along_axis(keys, order, np.inf, axis=1)
            drawn = _lowest(keys.reshape(1, -1), queries)[0]
            labels, images = np.divmod(drawn, keys.shape[1])
        else:
            order = _lowest(keys, shot + queries)
            labels = np.repeat(np.arange(way), queries)
            images = order[:, shot:].reshape(-1)
        support = (starts[:, None] + order[:, :shot]).reshape(-1)
        return _Episode(classes, support, starts[labels] + images, labels)


def draw_outside(
    dataset: Dataset, episodes: Episodes, first: int, count: int, seed: int
) -> Indices:
    """Return (T, count) images of classes that are not in the task.

    Each time a class is drawn at random, then one of its images. The first of the episodes has the
    number `first`. The episodes themselves stay as they are.
    """
    images = []
    for number, classes in enumerate(episodes.classes, first):
        noise = generator(seed, f"outside {dataset.split_name}", number)
        outside = np.setdiff1d(np.arange(len(dataset)), classes)
        chosen = noise.choice(outside, count)
        images.append(dataset.starts[chosen] + noise.integers(dataset.counts[chosen]))
    return np.stack(images)


def _lowest(keys: np.ndarray, count: int) -> Indices:
    """Return the positions of the lowest `count` keys of each row, lowest first: (rows, count)."""
    if count >= keys.shape[1]:
        return np.argsort(keys, axis=1)
    # Sorting only the candidates is faster than sorting all keys.
    candidates = np.argpartition(keys, count, axis=1)[:, :count]
    order = np.argsort(np.take_along_axis(keys, candidates, axis=1), axis=1)
    return np.take_along_axis(candidates, order, axis=1)
