"""Few-shot tasks as indices. Episode i of a seed is a pure function of (seed, i), the same in every process."""

from dataclasses import dataclass

import numpy as np

from samovar.core.randomness import generator
from samovar.data.dataset import Dataset, Indices
from samovar.errors import DataError
from samovar.settings.tasks import EpisodeSettings


@dataclass(frozen=True)
class Episodes:
    """T tasks of one shape, as indices into a data set.

    classes: (T, N), positions in the data set; support and support_labels: (T, N * K); query and query_labels: (T, Q).
    Labels are 0 .. N - 1, the positions in `classes`.
    """

    classes: Indices
    support: Indices
    support_labels: Indices
    query: Indices
    query_labels: Indices


class EpisodeSampler:
    """Draws episodes of a data set.

    With `EpisodeSettings(way=5, shot=1, queries=15)`, `draw(first=0, count=4).support` is (4, 5) and `.query` (4, 75).

    Where way or shot have a range, `group` consecutive episodes share one shape, so that they can form a batch.
    """

    def __init__(
        self, dataset: Dataset, settings: EpisodeSettings, seed: int, *, group: int = 1
    ) -> None:
        self.dataset, self.settings, self.seed, self.group = dataset, settings, seed, group
        self._purpose = f"episodes {dataset.split_name}"
        self._check()

    def _check(self) -> None:
        way, shot = (
            (self.settings.most_way or self.settings.way),
            (self.settings.most_shot or self.settings.shot),
        )
        if len(self.dataset) < way:
            raise DataError(
                f"{self.dataset.description} has too few classes for tasks of {way}. Use a lower way, or more data."
            )
        # Pooled queries come from all classes of the task; each needs one image beside its support to be reachable.
        needed = shot + (1 if self.settings.pooled_queries else self.settings.queries)
        short = int(np.argmin(self.dataset.counts))
        if self.dataset.counts[short] < needed:
            raise DataError(
                f"Class {self.dataset.class_names[short]!r} of {self.dataset.description} has "
                f"{self.dataset.counts[short]} images, but tasks need {needed} (shot + queries). "
                "Use fewer shots or queries, add images, or leave the class out."
            )
        smallest = np.sort(self.dataset.counts)[: self.settings.way]
        if self.settings.pooled_queries and (smallest - shot).sum() < self.settings.queries:
            raise DataError(
                f"The smallest classes of {self.dataset.description} leave too few images for {self.settings.queries} "
                "queries. Use fewer queries."
            )

    def shape(self, episode: int) -> tuple[int, int]:
        """Way and shot of an episode."""
        settings = self.settings
        if settings.most_way is None and settings.most_shot is None:
            return settings.way, settings.shot
        noise = generator(self.seed, f"{self._purpose} shape", episode // self.group)
        way = int(noise.integers(settings.way, (settings.most_way or settings.way) + 1))
        return way, int(noise.integers(settings.shot, (settings.most_shot or settings.shot) + 1))

    def draw(self, first: int, count: int) -> Episodes:
        """Episodes first .. first + count - 1, which must share one shape."""
        shapes = {self.shape(episode) for episode in range(first, first + count)}
        if len(shapes) > 1:
            raise ValueError(
                f"episodes {first} to {first + count - 1} have several shapes; draw within groups"
            )
        (way, shot) = shapes.pop()
        drawn = [self._draw_one(episode, way, shot) for episode in range(first, first + count)]
        classes, support, query, query_labels = (
            np.stack(column) for column in zip(*drawn, strict=True)
        )
        support_labels = np.broadcast_to(np.repeat(np.arange(way), shot), support.shape)
        return Episodes(classes, support, support_labels, query, query_labels)

    def _draw_one(
        self, episode: int, way: int, shot: int
    ) -> tuple[Indices, Indices, Indices, Indices]:
        """Every image of the task's classes gets a random key; the lowest keys of a class are drawn first."""
        noise = generator(self.seed, self._purpose, episode)
        classes = noise.permutation(len(self.dataset))[:way]
        counts, starts = self.dataset.counts[classes], self.dataset.starts[classes]
        absent = np.arange(counts.max()) >= counts[:, None]
        pooled, queries = self.settings.pooled_queries, self.settings.queries
        keys = np.where(absent, np.inf, noise.random(absent.shape))
        order = _lowest(keys, shot if pooled else shot + queries)
        if pooled:
            # New keys: what the support left of a class has, by being left, higher keys than chance would give it.
            keys = np.where(absent, np.inf, noise.random(absent.shape))
            np.put_along_axis(keys, order, np.inf, axis=1)
            labels, images = np.divmod(_lowest(keys.reshape(1, -1), queries)[0], keys.shape[1])
        else:
            labels, images = np.repeat(np.arange(way), queries), order[:, shot:].reshape(-1)
        support = (starts[:, None] + order[:, :shot]).reshape(-1)
        return classes, support, starts[labels] + images, labels


def draw_outside(
    dataset: Dataset, episodes: Episodes, first: int, count: int, seed: int
) -> Indices:
    """(T, count) images of classes that are not in the task: a class at random, then one of its images.

    The first of the episodes has the number `first`. The episodes themselves stay as they are.
    """
    drawn = []
    for task, classes in enumerate(episodes.classes, first):
        noise = generator(seed, f"outside {dataset.split_name}", task)
        chosen = noise.choice(np.setdiff1d(np.arange(len(dataset)), classes), count)
        drawn.append(dataset.starts[chosen] + noise.integers(dataset.counts[chosen]))
    return np.stack(drawn)


def _lowest(keys: np.ndarray, count: int) -> Indices:
    """Positions of the lowest `count` keys of each row, lowest first: (rows, count)."""
    if count < keys.shape[1]:
        candidates = np.argpartition(keys, count, axis=1)[:, :count]
        order = np.argsort(np.take_along_axis(keys, candidates, axis=1), axis=1)
        return np.take_along_axis(candidates, order, axis=1)
    return np.argsort(keys, axis=1)
