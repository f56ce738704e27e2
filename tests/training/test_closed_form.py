"""Training the closed form lowers the loss on new tasks, and is a function of its settings."""

from dataclasses import replace

import pytest
import torch

from samovar.data.collections import VectorCollection
from samovar.errors import SettingsError
from samovar.models.closed_form import ClosedForm
from samovar.training.closed_form import (
    ClosedFormSettings,
    draw_task,
    task_loss,
    train_closed_form,
)

TINY = ClosedFormSettings(updates=25, tasks=2, most_way=4, shots=(1, 3), queries=4)


@pytest.fixture(scope="module")
def collections() -> list[VectorCollection]:
    """Two collections of rectified clouds around class means."""
    generator = torch.Generator().manual_seed(0)
    made = []
    for name, noise in (("easy", 0.3), ("hard", 1.0)):
        classes = []
        for _ in range(6):
            mean = torch.randn(16, generator=generator)
            cloud = mean + noise * torch.randn(10, 16, generator=generator)
            classes.append(cloud.clamp(min=0))
        made.append(VectorCollection(name, tuple(classes)))
    return made


def test_training_lowers_the_loss_on_tasks_it_has_not_seen(collections):
    trained = train_closed_form(collections, TINY)
    untrained = ClosedForm(TINY.power, TINY.spread)
    losses = {"trained": 0.0, "untrained": 0.0}
    for number in range(40):
        task = draw_task(collections, replace(TINY, seed=9), number)
        with torch.no_grad():
            losses["trained"] += task_loss(trained, task).item()
            losses["untrained"] += task_loss(untrained, task).item()
    assert losses["trained"] < losses["untrained"]


def test_the_same_settings_learn_the_same_numbers(collections):
    first = train_closed_form(collections, TINY).state_dict()
    second = train_closed_form(collections, TINY).state_dict()
    other = train_closed_form(collections, replace(TINY, seed=1)).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["ridge"], other["ridge"])


def test_impossible_settings_are_refused(collections):
    with pytest.raises(SettingsError, match="at least one collection"):
        train_closed_form([], TINY)
    with pytest.raises(SettingsError, match="--most-way must be at least 2"):
        ClosedFormSettings(most_way=1)
