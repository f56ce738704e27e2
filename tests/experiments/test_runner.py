"""The runner goes from nothing to tables; a run that fails stops no other."""

import json
from dataclasses import replace

import pytest
from helpers_images import drawn

from samovar.errors import DataError, RunError, SettingsError
from samovar.experiments import registry
from samovar.experiments.accuracy_table import accuracy_table
from samovar.experiments.evidence import Evidence, Workplace
from samovar.experiments.experiment import Experiment
from samovar.experiments.figures import accuracy_figure
from samovar.experiments.options import ReproduceOptions
from samovar.experiments.plan import missing_pieces
from samovar.experiments.runner import (
    chosen_experiments,
    reproduce,
    run_cell,
    run_experiments,
    train_and_measure,
    write_coverage,
)
from samovar.settings.data import DataSettings
from samovar.settings.training import OptimizerSettings
from samovar.training.run_folder import RunFolder


@pytest.fixture
def registered(cells, monkeypatch):
    """An experiment from outside of the package, for one test."""
    monkeypatch.setattr(registry, "_registered", {})
    experiment = Experiment(
        name="mine",
        cells=lambda _: [cells[0], cells[2]],
        table=lambda measurements: accuracy_table("mine", measurements),
        figure=accuracy_figure,
        beyond_paper=True,
    )
    registry.register_experiment(experiment)
    return experiment


@pytest.mark.usefixtures("registered")
def test_a_registered_experiment_is_run_by_its_name(tmp_path):
    options = ReproduceOptions(runs=tmp_path / "runs", out=tmp_path / "out")
    table = reproduce("mine", options, lambda _: None)
    (difference,) = table.data["paired"]
    assert (difference["first"], difference["second"]) == ("samovar", "versa")
    assert json.loads((options.out / "mine.json").read_text()) == table.data
    assert (options.out / "mine.md").read_text() == table.markdown
    drawn((options.out / "mine.png").read_bytes())


@pytest.mark.usefixtures("registered")
def test_one_cell_is_trained_and_measured_once(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    options = ReproduceOptions(runs=place.runs, out=place.results)
    said: list[str] = []
    run_cell(cells[0].name, options, said.append)
    assert Evidence(cells[0], place).is_measured
    assert not place.run(cells[2]).exists()
    evidence = place.training(cells[0]).stat().st_mtime_ns
    run_cell(cells[0].name, options, said.append)
    assert said[-1] == f"{cells[0].name}: measured already"
    assert place.training(cells[0]).stat().st_mtime_ns == evidence


@pytest.mark.usefixtures("registered")
def test_cells_that_do_not_exist_or_fail_are_errors(cells, tmp_path, monkeypatch):
    options = ReproduceOptions(runs=tmp_path / "runs", out=tmp_path / "out")
    with pytest.raises(SettingsError, match=f"Did you mean {cells[0].name}"):
        run_cell(f"{cells[0].name}x", options)
    no_data = replace(cells[0].settings, data=DataSettings("nowhere"))
    bad = replace(cells[0], settings=no_data)
    monkeypatch.setattr(registry, "_registered", {})
    registry.register_experiment(
        Experiment("bad", lambda _: [bad], lambda _: None, lambda _: b"", beyond_paper=True)
    )
    with pytest.raises(RunError, match="nowhere"):
        run_cell(bad.name, options, lambda _: None)


@pytest.mark.usefixtures("registered")
def test_nothing_is_trained_when_only_the_measured_is_wanted(tmp_path):
    options = ReproduceOptions(runs=tmp_path / "runs", out=tmp_path / "out", measured_only=True)
    table = reproduce("mine", options, lambda _: None)
    assert not options.runs.exists()
    assert [entry["ours"] for entry in table.data["cells"]] == [None, None]
    assert not (options.out / "mine.png").exists()  # nothing to show


@pytest.mark.usefixtures("registered")
def test_all_experiments_of_the_papers_scale_are_those_of_the_paper():
    options = ReproduceOptions(scale="paper")
    names = [experiment.name for experiment in chosen_experiments("all", options)]
    assert "table1" in names
    assert not {"mine", "shots", "longer", "omniglot", "calibration"} & set(names)
    with pytest.raises(SettingsError, match="goes beyond the paper"):
        chosen_experiments("mine", options)


def test_a_run_that_fails_stops_no_other(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    no_data = replace(cells[0].settings, data=DataSettings("nowhere"))
    bad = replace(cells[0], name="bad", settings=no_data)
    again = replace(bad, name="again")
    gpu = replace(cells[1], needs_gpu=True)
    said: list[str] = []
    runs = [bad, again, gpu, cells[2]]
    (failure,) = train_and_measure(runs, place, said.append, measure_only=False)
    assert "nowhere" in failure
    states = [Evidence(cell, place).state for cell in (again, gpu, cells[2])]
    assert states == ["no data", "missing", "measured"]
    assert not any("again: training" in line for line in said)


def test_a_training_that_diverges_is_a_result_and_is_not_tried_again(registered, cells, tmp_path):
    wild = replace(cells[0].settings, optimizer=OptimizerSettings("sgd", 1e30, schedule="constant"))
    diverging = replace(cells[0], name="wild", settings=wild)
    registry.register_experiment(replace(registered, cells=lambda _: [diverging, cells[2]]))
    options = ReproduceOptions(runs=tmp_path / "runs", out=tmp_path / "out")
    table = reproduce("mine", options, lambda _: None)
    assert [entry["ours"] is None for entry in table.data["cells"]] == [True, False]
    assert "| diverged |" in table.markdown
    evidence = Evidence(diverging, Workplace(tmp_path / "elsewhere", options.out))
    assert evidence.state == "diverged"
    noted = RunFolder(options.runs / "wild").diverged_at
    assert evidence.diverged_at == noted
    assert noted is not None
    said: list[str] = []
    run_cell("wild", options, said.append)
    assert said == ["wild: diverged already"]
    place = Workplace(options.runs, options.out)
    assert missing_pieces([diverging, cells[2]], place, options) == []
    other_settings = replace(diverging, settings=cells[1].settings)
    assert Evidence(other_settings, place).diverged_at is None


def test_failures_are_reported_after_the_table_is_written(registered, cells, tmp_path):
    no_data = replace(cells[0].settings, data=DataSettings("nowhere"))
    broken = replace(registered, cells=lambda _: [replace(cells[0], settings=no_data), cells[2]])
    registry.register_experiment(broken)
    options = ReproduceOptions(runs=tmp_path / "runs", out=tmp_path / "out")
    with pytest.raises(RunError, match="missing from the tables"):
        reproduce("mine", options, lambda _: None)
    entries = json.loads((options.out / "mine.json").read_text())["cells"]
    assert [entry["ours"] is None for entry in entries] == [True, False]


def test_coverage_is_written_without_a_picture(tmp_path):
    options = ReproduceOptions(runs=tmp_path / "runs", out=tmp_path / "out")
    names = [file.name for file in write_coverage(options).files]
    assert names == ["coverage.json", "coverage.md"]


def test_an_experiment_without_its_data_stops_no_other(registered, tmp_path):
    def table(measurements):
        raise DataError("There is no such data.")

    options = ReproduceOptions(runs=tmp_path / "runs", out=tmp_path / "out", measured_only=True)
    on_the_spot = replace(registered, name="spot", cells=lambda _: [], table=table)
    said: list[str] = []
    experiments = run_experiments([on_the_spot, registered], options, said.append)
    assert next(experiments).table.data["name"] == "mine"
    with pytest.raises(RunError, match="spot: There is no such data"):
        next(experiments)
    assert said == ["spot: There is no such data."]
