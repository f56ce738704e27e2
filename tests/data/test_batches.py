"""Batches are functions of (seed, step, task), however the tasks of an update are divided."""

import numpy as np
import pytest
import torch

from samovar.data.batches import BatchSource
from samovar.data.episodes import EpisodeSampler
from samovar.data.normalization import Normalization
from samovar.settings.data import AugmentationSettings
from samovar.settings.tasks import EpisodeSettings

PLAIN = Normalization((0.0,) * 3, (1.0,) * 3, scale=1.0)
EVERYTHING = AugmentationSettings(flip=True, crop_padding=1, jitter=0.4)


def source(toy, augmentation=None, seed=0):
    return BatchSource(toy, PLAIN, torch.device("cpu"), seed, augmentation)


@pytest.fixture(scope="module")
def sampler(toy):
    return EpisodeSampler(toy, EpisodeSettings(way=3, shot=2, queries=2), seed=0, group=4)


def test_a_batch_has_the_images_and_labels_of_its_episodes(toy, sampler):
    batch = source(toy).tasks(sampler, step=2, tasks=range(1, 3))
    episodes = sampler.draw(2 * 4 + 1, 2)
    assert batch.way == 3
    assert batch.support.shape == (2, 6, 3, 6, 6)
    assert batch.query.shape == (2, 6, 3, 6, 6)
    # The images of `toy` have their index as the value of every pixel.
    np.testing.assert_array_equal(batch.support[:, :, 0, 0, 0], episodes.support)
    np.testing.assert_array_equal(batch.query[:, :, 2, 5, 5], episodes.query)
    np.testing.assert_array_equal(batch.support_labels, episodes.support_labels)
    np.testing.assert_array_equal(batch.query_labels, episodes.query_labels)


@pytest.mark.parametrize("augmentation", [None, EVERYTHING])
def test_tasks_are_the_same_however_processes_share_them(toy, sampler, augmentation):
    batches = source(toy, augmentation)
    together = batches.tasks(sampler, 5, range(4))
    first = batches.tasks(sampler, 5, range(1))
    rest = batches.tasks(sampler, 5, range(1, 4))
    for name in ("support", "support_labels", "query", "query_labels"):
        apart = torch.cat([getattr(first, name), getattr(rest, name)])
        assert torch.equal(getattr(together, name), apart)


def test_augmentation_changes_the_images_and_depends_on_seed_and_step(toy, sampler):
    plain = source(toy).tasks(sampler, 1, range(2)).support
    assert torch.equal(
        source(toy, AugmentationSettings()).tasks(sampler, 1, range(2)).support, plain
    )
    augmented = source(toy, EVERYTHING).tasks(sampler, 1, range(2)).support
    assert not torch.equal(augmented, plain)
    other_seed = source(toy, EVERYTHING, seed=1).tasks(sampler, 1, range(2)).support
    assert not torch.equal(augmented, other_seed)
    assert torch.equal(augmented, source(toy, EVERYTHING).tasks(sampler, 1, range(2)).support)


def test_auxiliary_images_have_the_label_of_their_class_and_come_from_all_images(toy):
    batch = source(toy).auxiliary(step=0, count=5000)
    indices = batch.images[:, 0, 0, 0].numpy().astype(int)
    expected = np.searchsorted(toy.starts, indices, side="right") - 1
    np.testing.assert_array_equal(batch.labels, expected)
    total = int(toy.counts.sum())
    assert set(indices) == set(range(total)), "every image is drawn"
    counts = np.bincount(indices, minlength=total)
    assert counts.max() < 5000 / total + 6 * np.sqrt(5000 / total), "and equally often"
