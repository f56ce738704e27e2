"""Transductive models of the paper are measured by running norm too."""

import json
from dataclasses import replace

from samovar.experiments import tables
from samovar.experiments.cells import EXPERIMENTS
from samovar.experiments.reproduce import Workplace, reproduce


def test_transductive_models_of_the_paper_are_measured_by_running_norm_too(cells, tmp_path):
    paper = [*EXPERIMENTS["table1"]("paper"), *EXPERIMENTS["table3"]("paper")]
    transductive = [cell for cell in paper if cell.settings.model.norm == "episode"]
    assert len(transductive) == 8
    assert all(cell.also == (replace(cell.protocol, norm="running"),) for cell in transductive)
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    model = replace(cells[0].settings.model, norm="episode")
    protocol = replace(cells[0].protocol, shot=2)
    cell = replace(cells[0], settings=replace(cells[0].settings, model=model), protocol=protocol)
    cell = replace(cell, also=(replace(protocol, norm="running"),))
    reproduce([cell], place, lambda _: None, measure_only=False)
    written = tables.table("table1", "paper", [cell], place)
    stored = json.loads((place.evidence(cell, cell.also[0]) / "evaluation.json").read_bytes())
    (entry,) = written.data["cells"]
    assert entry["protocol"].endswith("episode norm")
    assert stored["protocol"]["norm"] == "running"
    assert entry["running_norm"] == stored["accuracy"]["mean"] != entry["ours"]["mean"]
    assert f"running norm {100 * entry['running_norm']:.1f}" in written.text
