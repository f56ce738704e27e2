"""Measuring keeps the evidence of a trained cell, and leaves what is there."""

import json
from dataclasses import replace

from samovar.artifacts.locate import locate_model
from samovar.artifacts.saved_model import load_network
from samovar.experiments.evidence import Evidence, Workplace
from samovar.experiments.measuring import measure
from samovar.training.run import train
from samovar.training.stored_metrics import read_metrics


def test_what_is_kept_is_all_that_tables_need_without_weights(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    cell = cells[0]
    train(cell.settings, place.run(cell))
    measure(cell, place)
    evidence = Evidence(cell, place)
    assert evidence.is_measured
    assert len(evidence.task_accuracies) == cell.protocol.episodes
    assert evidence.training is not None
    updates = [point.update for point in evidence.training.variances]
    assert updates == [4]  # every 250th, and the last
    stored = json.loads(place.training(cell).read_text())
    throughput = read_metrics(evidence.run.metrics)[-2]["images_per_second"]
    assert stored["seconds"] == round(4 * 9 / throughput, 1)  # four updates of nine images
    assert not list(place.results.rglob("*.safetensors"))


def test_weights_are_kept_where_that_is_wanted_and_can_be_examined_again(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out", keeps_weights=True)
    cell = cells[0]
    train(cell.settings, place.run(cell))
    measure(cell, place)
    trained = load_network(place.run(cell) / "model")
    kept = load_network(locate_model(place.results / "cells" / cell.name))
    assert kept.identity == trained.identity
    assert kept.calibration == trained.calibration


def test_evaluations_that_are_there_are_not_measured_again(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    cell = cells[0]
    train(cell.settings, place.run(cell))
    measure(cell, place)
    path = place.evaluation(cell) / "evaluation.json"
    before = path.stat().st_mtime_ns
    further = replace(cell, other_protocols=(*cell.other_protocols, replace(cell.protocol, shot=3)))
    assert not Evidence(further, place).is_measured
    measure(further, place)
    assert Evidence(further, place).is_measured
    assert path.stat().st_mtime_ns == before
