"""Experiments are found by name, also those from outside of the package."""

import pytest

from samovar.errors import SettingsError
from samovar.experiments import registry
from samovar.experiments.experiment import Experiment, ResultTable
from samovar.experiments.registry import (
    BUILT_IN,
    all_experiments,
    experiment_names,
    find_experiment,
    register_experiment,
)


def test_every_experiment_is_found_under_its_own_name():
    assert [experiment.name for experiment in all_experiments()] == list(experiment_names())


def test_experiments_beyond_the_paper_are_marked():
    for name, place in BUILT_IN.items():
        assert find_experiment(name).beyond_paper == place.module.startswith("beyond.")


def test_unknown_and_taken_names_are_refused():
    with pytest.raises(SettingsError, match="no experiment 'table9'"):
        find_experiment("table9")
    taken = Experiment("table1", lambda _: [], lambda _: ResultTable({}, ""), lambda _: b"")
    with pytest.raises(SettingsError, match="built-in experiment called 'table1'"):
        register_experiment(taken)


def test_an_experiment_from_outside_joins_the_list(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    mine = Experiment("mine", lambda _: [], lambda _: ResultTable({}, ""), lambda _: b"")
    register_experiment(mine)
    assert experiment_names() == (*BUILT_IN, "mine")
    assert find_experiment("mine") is mine
