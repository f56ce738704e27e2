"""Every kind of preset trains, is stopped, goes on, and ends as if it had not been stopped."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from samovar.data.store import ClassEntry, Contents
from samovar.data.store_writer import write_store
from samovar.settings.presets import PRESETS
from samovar.settings.tasks import EpisodeSettings
from samovar.settings.training import TrainSettings
from samovar.training.run import train

SHAPES = {
    "miniimagenet": (32, 32, 3),
    "cifar_fs": (32, 32, 3),
    "fc100": (32, 32, 3),
    "omniglot": (28, 28, 1),
    "glyphs": (28, 28, 1),
    "features": (16,),
    "folder": (32, 32, 3),
}
"""Smaller than the official images where those are large: the code that runs is the same."""


def code_path(settings: TrainSettings) -> tuple[object, ...]:
    """What decides which code a preset runs; numbers of updates, sizes and rates do not."""
    model, optimizer = settings.model, settings.optimizer
    return (
        (settings.data.rotations, settings.data.scheme, settings.data.normalisation),
        (model.method, model.backbone, model.classifier, model.norm, model.reduction),
        (model.task_embedding, model.auxiliary_classes > 0, model.shared, model.beta is None),
        (model.dropout > 0, settings.augmentation, settings.episodes.pooled_queries),
        (optimizer.kind, optimizer.schedule, optimizer.clip > 0, optimizer.decay_extractor > 0),
    )


def distinct_presets() -> list[str]:
    """One preset for each code path."""
    first_of_path: dict[tuple[object, ...], str] = {}
    for name, preset in PRESETS.items():
        first_of_path.setdefault(code_path(preset.settings), name)
    return list(first_of_path.values())


def tiny(settings: TrainSettings) -> TrainSettings:
    """Two updates of a narrow network, validated and kept after each.

    The first update has an auxiliary step where there is one: its probability begins at 1.
    """
    shape = SHAPES[settings.data.name]
    width = 4 if settings.model.backbone == "resnet12" else 8
    episodes = settings.episodes
    queries = episodes.queries if episodes.pooled_queries else min(3, episodes.queries)
    return replace(
        settings,
        updates=2,
        tasks=2,
        auxiliary_batch=8,
        checkpoint_every=1,
        trace_every=1,
        model=replace(settings.model, width=width, size=shape[0], samples=2),
        episodes=EpisodeSettings(5, episodes.shot, queries, episodes.pooled_queries),
        validation=replace(
            settings.validation,
            way=5,
            queries=3,
            every=1,
            tasks=2,
            samples=2,
            test_tasks=2,
            test_samples=2,
        ),
    )


@pytest.fixture(scope="module")
def random_data(tmp_path_factory) -> Path:
    """Random images with the official numbers of classes, a few images each."""
    folder = tmp_path_factory.mktemp("official")
    for name, shape in SHAPES.items():
        training_classes = 60 if name == "fc100" else 64
        names = [f"c{number}" for number in range(training_classes + 12)]
        split = {
            "train": names[:training_classes],
            "val": names[training_classes : training_classes + 6],
            "test": names[training_classes + 6 :],
        }
        rng = np.random.default_rng(0)
        contents = Contents(
            [ClassEntry(class_name, 12) for class_name in names],
            shape,
            lambda _, rng=rng, shape=shape: rng.integers(0, 256, (12, *shape)),
            {"random": split, "versa": split},
            dtype="float32" if name == "features" else "uint8",
        )
        write_store(name, {"title": "", "licence": "", "citation": ""}, contents, folder)
    return folder


class StopError(Exception):
    """A stop in the middle of a run."""


def stop_after_validation(line: dict) -> None:
    if "validation_accuracy" in line:
        raise StopError


@pytest.mark.slow
@pytest.mark.parametrize("name", distinct_presets())
def test_a_stop_changes_nothing(name, random_data, tmp_path, monkeypatch):
    monkeypatch.setenv("SAMOVAR_DATA", str(random_data))
    settings = tiny(PRESETS[name].settings)
    lines: list[dict] = []
    whole = train(settings, tmp_path / "whole", preset=name, watch=lines.append)
    with pytest.raises(StopError):
        train(settings, tmp_path / "stopped", preset=name, watch=stop_after_validation)
    resumed = train(settings, tmp_path / "stopped", preset=name)
    assert resumed.model.identity == whole.model.identity
    np.testing.assert_array_equal(resumed.test.tasks, whole.test.tasks)
    losses = [line["loss"] for line in lines if "loss" in line]
    assert len(losses) == 2
    assert np.isfinite(losses).all()


def test_the_kinds_of_presets_are_many_and_each_is_trained_once():
    names = distinct_presets()
    paths = {code_path(PRESETS[name].settings) for name in names}
    assert len(paths) == len(names) >= 20
    assert {PRESETS[name].settings.data.name for name in PRESETS} <= set(SHAPES)
