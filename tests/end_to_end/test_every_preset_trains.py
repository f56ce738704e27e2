"""Every preset trains, is stopped, goes on and is evaluated."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from samovar.data.store import ClassEntry, Contents
from samovar.data.store_writer import write_store
from samovar.settings.presets import PRESETS
from samovar.settings.tasks import EpisodeSettings
from samovar.training.run import train


@pytest.fixture(scope="module")
def random_data(tmp_path_factory) -> Path:
    """Random images in the official shapes, with the official numbers of classes, a few images each."""
    folder = tmp_path_factory.mktemp("official")
    images, features, grey = (84, 84, 3), (512,), (28, 28, 1)
    shapes = {
        "miniimagenet": images,
        "cifar_fs": (32, 32, 3),
        "fc100": (32, 32, 3),
        "omniglot": grey,
        "glyphs": grey,
    }
    for name, shape in {**shapes, "features": features, "folder": images}.items():
        sizes = (60, 20, 20) if name == "fc100" else (64, 16, 20)
        names = [f"c{i}" for i in range(100)]
        edges = np.cumsum((0, *sizes))
        split = {
            part: names[edges[i] : edges[i + 1]] for i, part in enumerate(("train", "val", "test"))
        }
        rng, dtype = np.random.default_rng(0), "float32" if name == "features" else "uint8"
        contents = Contents(
            [ClassEntry(each, 20) for each in names],
            shape,
            lambda _, rng=rng, shape=shape: rng.integers(0, 256, (20, *shape)),
            {"random": split, "versa": split},
            dtype=dtype,
        )
        write_store(name, {"title": "", "licence": "", "citation": ""}, contents, folder)
    return folder


class StopError(Exception):
    """A stop in the middle of a run."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
def test_two_updates_a_stop_and_an_evaluation(name, random_data, tmp_path, monkeypatch):
    """Narrow networks; the first update has an auxiliary step where there is one (its probability begins at 1)."""
    monkeypatch.setenv("SAMOVAR_DATA", str(random_data))
    s = PRESETS[name].settings
    validation = dataclasses.replace(
        s.validation, every=1, tasks=2, samples=2, test_tasks=2, test_samples=2
    )
    size = 512 if name == "features" else s.model.size
    model = dataclasses.replace(
        s.model, width=4 if s.model.backbone == "resnet12" else 8, size=size, samples=2
    )
    episodes = EpisodeSettings(
        s.episodes.way, s.episodes.shot, s.episodes.queries, s.episodes.pooled_queries
    )
    s = dataclasses.replace(
        s,
        updates=2,
        validation=validation,
        model=model,
        checkpoint_every=1,
        trace_every=1,
        episodes=episodes,
    )

    def stop(line: dict) -> None:
        if "validation_accuracy" in line:
            raise StopError

    with pytest.raises(StopError):
        train(s, tmp_path / "run", preset=name, watch=stop)
    lines: list[dict] = []
    run = train(s, tmp_path / "run", preset=name, watch=lines.append)
    assert 0 <= run.test.mean <= 1
    assert {"loss", "nll"} <= set().union(*lines)
    assert (tmp_path / "run" / "model" / "model.safetensors").exists()
