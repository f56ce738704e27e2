"""Kept evidence counts only for the settings and tasks it was measured with."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from helpers_experiments import keep_evidence

from samovar.errors import RunError
from samovar.experiments.evidence import Evidence, Workplace
from samovar.experiments.runner import train_and_measure


def state_of(cell, place):
    return Evidence(cell, place).state


def test_evidence_of_other_settings_does_not_count(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "results")
    cell = cells[0]
    train_and_measure([cell], place, lambda _: None, measure_only=False)
    changed = replace(cell, settings=replace(cell.settings, updates=5))
    assert state_of(cell, place) == "measured"
    assert state_of(changed, place) == "missing"
    for other in (replace(cell.protocol, episodes=30), replace(cell.protocol, seed=1)):
        assert state_of(replace(cell, protocol=other), place) == "trained"  # measured once more
    assert json.loads(place.training(cell).read_text())["samples"]["tasks"] == 25
    (place.evaluation(cell) / "evaluation.json").write_text('{"protocol": ')
    with pytest.raises(RunError, match=r"evaluation.json cannot be read"):
        state_of(cell, place)


def test_samples_of_other_tasks_are_measured_again(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    train_and_measure(cells[:1], place, lambda _: None, measure_only=False)
    path = place.training(cells[0])
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"samples": kept["samples"] | {"tasks": 7}}))
    assert state_of(cells[0], place) == "trained"
    train_and_measure(cells[:1], place, lambda _: None, measure_only=True)
    assert json.loads(path.read_text())["samples"] == kept["samples"]


def test_a_file_is_read_once(cells, tmp_path):
    """Evidence is a snapshot: it stays what it was when the files have gone."""
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    keep_evidence(place, cells[0], np.full(25, 0.5))
    evidence = Evidence(cells[0], place)
    assert evidence.is_measured
    for path in place.results.rglob("*.json"):
        path.unlink()
    assert evidence.is_measured
    assert evidence.summary().sampled.accuracy.mean == 0.5
    assert not Evidence(cells[0], place).is_measured


def test_a_run_is_finished_by_its_record_and_an_old_one_by_its_card(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    run = Evidence(cells[0], place).run
    run.model.mkdir(parents=True)
    run.config.write_text(
        json.dumps({"format": 1, "preset": "own", "settings": asdict(cells[0].settings)})
    )
    card = {"validation accuracy": "50 %"}
    (run.model / "config.json").write_text(json.dumps({"training": {"figures": card}}))
    assert state_of(cells[0], place) == "begun"
    results = {"results": {"finished": True}, "figures": card}
    (run.model / "config.json").write_text(json.dumps({"training": results}))
    assert state_of(cells[0], place) == "trained"
    old_card = card | {"test accuracy, 5-way 1-shot, 1000 tasks": "50 %"}
    (run.model / "config.json").write_text(json.dumps({"training": {"figures": old_card}}))
    assert state_of(cells[0], place) == "trained"


def test_evaluations_under_different_protocols_have_folders_of_their_own(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    protocol = cells[0].protocol
    others = [
        replace(protocol, norm="running"),
        replace(protocol, queries=15),
        cells[0].protocols[1],
    ]
    folders = {place.evaluation(cells[0], other) for other in (protocol, *others)}
    assert len(folders) == 4


def damage(path, name, value) -> None:
    """Change an entry of a JSON file; a name with dots leads into it."""
    content = json.loads(path.read_text())
    *outer, last = name.split(".")
    inner = content
    for key in outer:
        inner = inner[key]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("file", "name", "value"),
    [
        ("training", "settings", ...),
        ("training", "settings", [1]),
        ("training", "settings.updates", "many"),
        ("training", "settings.updates", 10**400),
        ("training", "trace", "none"),
        ("training", "trace", [3]),
        ("training", "trace", [{"nll": 1, "largest_weight_variance": "a", "update": 1}]),
        ("training", "trace", [{"nll": 1, "largest_weight_variance": 1}]),
        ("training", "samples", 3),
        ("training", "samples.tasks", ...),
        ("training", "samples.prior single", {"mean": None}),
        ("evaluation", "protocol", ...),
        ("evaluation", "protocol", "5-way"),
        ("evaluation", "protocol.text", 5),
        ("evaluation", "accuracy", ...),
        ("evaluation", "accuracy.mean", float("nan")),
        ("evaluation", "accuracy.ci95", "wide"),
        ("evaluation", "nll", 0.5),
        ("evaluation", "mean_classifier", None),
        ("evaluation", "ece.value", [1]),
        ("evaluation", "reliability", ...),
        ("evaluation", "reliability", [{"queries": "many"}]),
    ],
)
def test_files_of_other_contents_are_refused_by_name(cells, tmp_path, file, name, value):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    cell = cells[0]
    keep_evidence(place, cell, np.full(25, 0.5))
    path = place.training(cell)
    if file == "evaluation":
        path = place.evaluation(cell) / "evaluation.json"
    damage(path, name, value)
    with pytest.raises(RunError, match=rf"The evidence in .*{file}\.json cannot be read"):  # noqa: PT012
        evidence = Evidence(cell, place)
        assert evidence.state
        evidence.summary()


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"[" * 10**5])
def test_files_that_are_no_tables_are_refused_by_name(cells, tmp_path, content):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    keep_evidence(place, cells[0], np.full(25, 0.5))
    place.training(cells[0]).write_bytes(content)
    with pytest.raises(RunError, match=r"The evidence in .*training\.json cannot be read"):
        state_of(cells[0], place)
