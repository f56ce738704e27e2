"""The rivals' recipes are those that validation chose, and the comparison is a fair one."""

import json
from pathlib import Path

from samovar.experiments.beyond.tuned import COLUMNS, EXPERIMENT
from samovar.settings.stored import differences

CELLS = EXPERIMENT.cells("cpu")
RECIPES = Path(__file__).parents[3] / "results" / "recipes.json"


def members(column):
    return [cell for cell in CELLS if cell.column == column]


def test_the_chosen_recipes_are_the_best_on_validation_classes():
    """What the kept evidence of `recipes` says is what `tuned` trains."""
    best = set()
    for result in json.loads(RECIPES.read_text())["results"]:
        if result["best"]:
            best.add(result["run"])
    chosen = {cell.name for cell in members("rival, chosen recipe") if cell.settings.seed == 0}
    # Alpha was tried in 5-shot only.
    tried = {name for name in chosen if "narrow" not in name or "5shot" in name}
    assert len(tried) == 4
    assert tried <= best


def test_every_row_compares_the_same_tasks_and_seeds():
    for row in {cell.row for cell in CELLS}:
        cells = [cell for cell in CELLS if cell.row == row]
        assert {cell.group for cell in cells} == {row}
        assert len({cell.protocol for cell in cells}) == 1
        assert cells[0].protocol.split == "test"
        seeds = [[cell.settings.seed for cell in cells if cell.column == name] for name in COLUMNS]
        assert seeds[0] == seeds[1] == seeds[2]


def test_rivals_differ_in_their_recipe_alone():
    for chosen, former in zip(members(COLUMNS[1]), members(COLUMNS[2]), strict=True):
        changed = {change.path[0] for change in differences(former.settings, chosen.settings)}
        assert changed <= {"optimizer", "episodes", "tasks", "model", "updates"}
        assert chosen.settings.data == former.settings.data
        images = chosen.settings.updates * chosen.settings.images_per_update
        assert images == former.settings.updates * former.settings.images_per_update
