"""Table 1: transductive models of the paper are measured by running norm too."""

import json
from dataclasses import replace

from helpers_experiments import measurements

from samovar.experiments.evidence import Workplace
from samovar.experiments.paper.table1 import EXPERIMENT
from samovar.experiments.registry import find_experiment
from samovar.experiments.runner import train_and_measure


def test_transductive_models_of_the_paper_are_measured_by_running_norm_too(cells, tmp_path):
    paper = [*EXPERIMENT.cells("paper"), *find_experiment("table3").cells("paper")]
    transductive = [cell for cell in paper if cell.settings.model.norm == "episode"]
    assert len(transductive) == 8
    for cell in transductive:
        assert cell.other_protocols == (replace(cell.protocol, norm="running"),)
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    model = replace(cells[0].settings.model, norm="episode")
    protocol = replace(cells[0].protocol, shot=2)
    inductive = replace(protocol, norm="running")
    cell = replace(
        cells[0],
        settings=replace(cells[0].settings, model=model),
        protocol=protocol,
        other_protocols=(inductive,),
    )
    train_and_measure([cell], place, lambda _: None, measure_only=False)
    table = EXPERIMENT.table(measurements([cell], place, "paper"))
    stored = json.loads((place.evaluation(cell, inductive) / "evaluation.json").read_bytes())
    (entry,) = table.data["cells"]
    assert entry["protocol"].endswith("episode norm")
    assert stored["protocol"]["norm"] == "running"
    assert entry["running_norm"] == stored["accuracy"]["mean"] != entry["ours"]["mean"]
    assert f"running norm {100 * entry['running_norm']:.1f}" in table.markdown
