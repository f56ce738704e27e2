"""The recipes: equal budgets, no test classes, and the best of each row by validation."""

from dataclasses import replace

import numpy as np
import pytest
from helpers_experiments import keep_divergence, keep_evidence, keep_training, measurements

from samovar.experiments.beyond.recipes import EXPERIMENT
from samovar.experiments.evidence import Workplace
from samovar.experiments.registry import find_experiment
from samovar.experiments.runner import build

CELLS = EXPERIMENT.cells("cpu")


def test_every_recipe_of_a_row_sees_as_many_training_images():
    images: dict[str, set[int]] = {}
    for cell in CELLS:
        seen = cell.settings.updates * cell.settings.images_per_update
        images.setdefault(cell.row, set()).add(seen)
    assert len(images) == 16
    assert all(len(budgets) == 1 for budgets in images.values())


def test_recipes_that_no_table_has_are_measured_on_validation_classes_only():
    tested = set()
    for name in ("table1", "table2", "tuned"):
        tested |= {cell.name for cell in find_experiment(name).cells("cpu")}
    new = [cell for cell in CELLS if cell.name not in tested]
    assert {protocol.split for cell in new for protocol in cell.protocols} == {"val"}
    assert len(new) > len(CELLS) / 3


def test_the_recipe_of_a_table_is_its_own_run():
    recipes = [(cell.row, cell.name) for cell in CELLS]
    assert len(set(recipes)) == len(recipes)
    names = [cell.name for cell in CELLS]
    assert "cifar_fs-conv4-versa-5shot-seed0" in names
    assert "cifar_fs-narrow-tadam-sc-5shot" in names


@pytest.mark.parametrize("row", ["SC, 5-shot", "SC + AT, 5-shot"])
def test_candidates_for_alpha_differ_in_alpha_alone(row):
    """TADAM's alpha of 1 is the row of the table that has no SC."""
    for method, alphas in (("tadam", [1.0, 2.5, 7.5, 25.0]), ("samovar", [5.0, 10.0, 25.0])):
        tried = [cell.settings for cell in CELLS if cell.row == f"{method}, {row}"]
        assert [settings.model.alpha for settings in tried] == alphas
        alike = {replace(settings, model=replace(settings.model, alpha=1.0)) for settings in tried}
        assert len(alike) == 1


def test_the_best_of_each_row_is_marked(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    slow = replace(cells[2], row="versa, 1-shot", column="step size 0.001")
    fast = replace(cells[3], row="versa, 1-shot", column="step size 0.003")
    wild = replace(cells[1], name="wild", row="versa, 1-shot", column="step size 0.03")
    keep_divergence(place, wild, 597)
    missing = replace(cells[0], name="missing", row="versa, 1-shot", column="step size 0.01")
    for cell, accuracies in ((slow, (0.3, 0.41)), (fast, (0.47, 0.45))):
        keep_evidence(place, cell, np.full(25, 0.5))
        lines = [{"update": 1.0, "validation_accuracy": accuracy} for accuracy in accuracies]
        keep_training(place, cell, lines)
    table, picture = build(EXPERIMENT, measurements([slow, fast, missing, wild], place))
    assert "| versa, 1-shot | step size 0.001 | 41.0 |" in table.markdown
    assert "| versa, 1-shot | step size 0.003 | **47.0** |" in table.markdown
    assert "| step size 0.03 | the loss was not finite at update 597 |" in table.markdown
    assert "1 recipe has not been trained yet." in table.markdown
    assert [result["best"] for result in table.data["results"]] == [False, True, False]
    assert picture is not None
