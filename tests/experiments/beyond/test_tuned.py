"""Everybody's recipe is the one that validation chose, and the comparison is a fair one."""

import json
from pathlib import Path

from samovar.experiments.beyond.recipes import EXPERIMENT as RECIPES
from samovar.experiments.beyond.tuned import EXPERIMENT
from samovar.settings.paper import TABLE_1

CELLS = EXPERIMENT.cells("cpu")
KEPT_RECIPES = Path(__file__).parents[3] / "results" / "recipes.json"


def test_the_chosen_recipes_are_the_best_on_validation_classes():
    """What the kept evidence of `recipes` says is what `tuned` trains."""
    best = set()
    for result in json.loads(KEPT_RECIPES.read_text())["results"]:
        if result["best"]:
            best.add(result["run"])
    tried = {cell.name for cell in RECIPES.cells("cpu")}
    assert best == {cell.name for cell in CELLS} & tried


def test_every_row_compares_the_same_tasks_seeds_and_budgets():
    for row in {cell.row for cell in CELLS}:
        members = {
            column: [cell for cell in CELLS if (cell.row, cell.column) == (row, column)]
            for column in ("samovar", "rival")
        }
        for samovar, rival in zip(members["samovar"], members["rival"], strict=True):
            assert samovar.group == rival.group
            assert samovar.protocol == rival.protocol
            assert samovar.protocol.split == "test"
            assert samovar.settings.seed == rival.settings.seed
            images = samovar.settings.updates * samovar.settings.images_per_update
            assert images == rival.settings.updates * rival.settings.images_per_update
            assert samovar.settings.data == rival.settings.data


def test_differences_that_the_paper_states_are_judged():
    """Whatever the recipe, what the paper says of VERSA and TADAM stands beside it."""
    for cell in CELLS:
        assert (cell.published is None) == ("prototypes" in cell.row)
    published = {cell.published for cell in CELLS if cell.row == "beside versa, 5-shot"}
    assert published == {TABLE_1["samovar"].at(5), TABLE_1["versa"].at(5)}
