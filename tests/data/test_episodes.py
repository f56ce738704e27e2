"""Episodes are disjoint, balanced, repeatable, and independent of batches."""

import numpy as np
import pytest
from helpers import make_store
from hypothesis import given, settings
from hypothesis import strategies as st

from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler
from samovar.errors import DataError
from samovar.settings.tasks import EpisodeSettings

shapes = st.builds(
    EpisodeSettings,
    way=st.integers(2, 11),
    shot=st.integers(1, 4),
    queries=st.integers(0, 3),
    pooled_queries=st.booleans(),
)


def class_of(dataset: Dataset, indices: np.ndarray) -> np.ndarray:
    return np.searchsorted(dataset.starts, indices, side="right") - 1


@given(shapes, st.integers(0, 2**31), st.integers(0, 10**6))
@settings(max_examples=100)
def test_laws(toy, shape, seed, first):
    drawn = EpisodeSampler(toy, shape, seed).draw(first, 3)
    queries = shape.queries if shape.pooled_queries else shape.queries * shape.way
    assert drawn.support.shape == drawn.support_labels.shape == (3, shape.way * shape.shot)
    assert drawn.query.shape == drawn.query_labels.shape == (3, queries)
    for task in range(3):
        images = np.concatenate([drawn.support[task], drawn.query[task]])
        labels = np.concatenate([drawn.support_labels[task], drawn.query_labels[task]])
        assert len(set(images)) == len(images), (
            "support and query are disjoint, nothing is drawn twice"
        )
        assert len(set(drawn.classes[task])) == shape.way, "classes are drawn without replacement"
        np.testing.assert_array_equal(class_of(toy, images), drawn.classes[task][labels])
        np.testing.assert_array_equal(np.bincount(drawn.support_labels[task]), shape.shot)
        if not shape.pooled_queries and queries:
            np.testing.assert_array_equal(np.bincount(drawn.query_labels[task]), shape.queries)


@given(shapes, st.integers(0, 100), st.integers(1, 5))
@settings(max_examples=50)
def test_an_episode_is_the_same_however_the_work_is_divided(toy, shape, seed, processes):
    """Process p of n draws p, p + n, ..; one process draws the same episodes in one batch."""
    whole = EpisodeSampler(toy, shape, seed).draw(0, 10)
    for process in range(processes):
        sampler = EpisodeSampler(toy, shape, seed)
        for episode in range(process, 10, processes):
            alone = sampler.draw(episode, 1)
            for name in ("classes", "support", "query", "query_labels"):
                np.testing.assert_array_equal(
                    getattr(alone, name)[0], getattr(whole, name)[episode]
                )


@pytest.mark.parametrize("pooled", [False, True])
def test_every_image_is_reachable_as_support_and_as_query(toy, pooled):
    shape = EpisodeSettings(way=5, shot=2, queries=10 if pooled else 2, pooled_queries=pooled)
    drawn = EpisodeSampler(toy, shape, seed=0).draw(0, 1500)
    everything = set(range(int(toy.counts.sum())))
    assert set(drawn.support.flat) == everything
    assert set(drawn.query.flat) == everything


def test_images_of_a_class_are_drawn_equally_often(toy):
    """Class 0 has 7 images; each is in the support of about 1/7 of the tasks with the class."""
    drawn = EpisodeSampler(toy, EpisodeSettings(way=11, shot=1, queries=1), seed=1).draw(0, 2000)
    counts = np.bincount(drawn.support[drawn.support < 7], minlength=7)
    assert counts.sum() == 2000
    assert abs(counts - 2000 / 7).max() < 5 * np.sqrt(2000 / 7 * 6 / 7)


def test_pooled_queries_leave_some_class_without_any_as_often_as_chance_says(tmp_path):
    """12 queries over 5 large classes: some class is empty in 32 % of the tasks."""
    dataset = Dataset(make_store(tmp_path, [600] * 5, shape=(1, 1, 1)))
    drawn = EpisodeSampler(dataset, EpisodeSettings(5, 1, 12, pooled_queries=True), seed=0).draw(
        0, 2000
    )
    empty = np.mean([len(set(labels)) < 5 for labels in drawn.query_labels])
    expected = sum(
        (-1) ** (k + 1) * c * (1 - k / 5) ** 12 for k, c in ((1, 5), (2, 10), (3, 10), (4, 5))
    )
    assert empty == pytest.approx(expected, abs=0.04)


def test_ranges_of_way_and_shot(toy):
    settings = EpisodeSettings(way=3, most_way=6, shot=1, most_shot=3, queries=2)
    sampler = EpisodeSampler(toy, settings, seed=0, group=4)
    assert {sampler.shape(episode) for episode in range(400)} == {
        (w, s) for w in range(3, 7) for s in range(1, 4)
    }
    for group in range(5):
        way, shot = sampler.shape(4 * group)
        assert sampler.draw(4 * group, 4).support.shape == (4, way * shot)


def test_other_seeds_and_splits_have_other_episodes(tmp_path):
    split = {
        "train": [f"class {i}" for i in range(5)],
        "val": [],
        "test": [f"class {i}" for i in range(5, 10)],
    }
    store = make_store(tmp_path, [20] * 10, split=split)
    shape = EpisodeSettings(way=5, shot=1, queries=1)
    train, test = Dataset(store, "train"), Dataset(store, "test")
    first, second = (EpisodeSampler(train, shape, seed).draw(0, 1).support for seed in (0, 1))
    assert (first != second).any()
    other = EpisodeSampler(test, shape, 0).draw(0, 1).support
    assert set(class_of(test, other[0])) == set(range(5))
    assert (other - 100 != first).any()


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (EpisodeSettings(way=12), "too few classes for 12-way tasks"),
        (EpisodeSettings(way=5, shot=5, queries=3), "'class 0' .* has 7 images, but tasks need 8"),
        (
            EpisodeSettings(way=2, shot=1, queries=15, pooled_queries=True),
            "too few images for 15 queries",
        ),
        (EpisodeSettings(way=5, most_way=12), "too few classes for 12-way tasks"),
    ],
)
def test_impossible_tasks_are_refused_before_any_work(toy, shape, words):
    with pytest.raises(DataError, match=words):
        EpisodeSampler(toy, shape, seed=0)
