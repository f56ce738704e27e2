"""The settings of a run count its images, and tell validation from test."""

from dataclasses import replace

import pytest

from samovar.errors import SettingsError
from samovar.settings.tasks import EpisodeSettings
from samovar.settings.training import Devices, OptimizerSettings, TrainSettings, ValidationSettings


def test_images_of_an_update():
    settings = TrainSettings(tasks=3, episodes=EpisodeSettings(way=5, shot=2, queries=4))
    assert settings.images_per_update == 3 * (5 * 2 + 5 * 4)
    pooled = EpisodeSettings(way=5, shot=2, queries=4, pooled_queries=True)
    assert replace(settings, episodes=pooled).images_per_update == 3 * (5 * 2 + 4)


def test_validation_and_test_have_tasks_of_the_same_shape():
    settings = ValidationSettings(tasks=7, samples=8, test_tasks=9, test_samples=10, shot=3)
    validation = settings.protocol(seed=5)
    test = settings.protocol(seed=5, test=True)
    assert (validation.split, validation.episodes, validation.samples) == ("val", 7, 8)
    assert (test.split, test.episodes, test.samples) == ("test", 9, 10)
    assert validation.tasks == test.tasks == EpisodeSettings(5, 3, 15)
    assert validation.seed == test.seed == 5


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"learning_rate": 0.0}, "--optimizer.learning-rate must be positive and finite"),
        ({"learning_rate": float("nan")}, "--optimizer.learning-rate must be positive"),
        ({"momentum": 1.0}, "--optimizer.momentum must be at least 0 and below 1"),
        ({"decay_task_embedding": -1.0}, "--optimizer.decay-task-embedding must be finite"),
        ({"clip": float("nan")}, "--optimizer.clip must be finite and not negative"),
    ],
)
def test_impossible_optimizers_are_refused_by_the_flag(wrong, words):
    with pytest.raises(SettingsError, match=words):
        OptimizerSettings(**wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"checkpoint_every": 0}, "--checkpoint-every must be at least 1, but is 0"),
        ({"episodes": EpisodeSettings(queries=0)}, "--episodes.queries must be at least 1"),
        ({"tasks": 10**6}, "would have 80,000,000 images, but at most 1,000,000 are possible"),
        ({"validation": ValidationSettings(every=0)}, "--validation.every must be at least 1"),
        ({"validation": ValidationSettings(way=1)}, "--validation.way must be at least 2"),
        ({"validation": ValidationSettings(shot=0)}, "--validation.shot must be at least 1"),
    ],
)
def test_impossible_runs_are_refused_by_the_flag(wrong, words):
    with pytest.raises(SettingsError, match=words):
        TrainSettings(**wrong)


def test_impossible_devices_are_refused():
    with pytest.raises(SettingsError, match="--devices and --nodes must be at least 1"):
        Devices(nodes=0)
