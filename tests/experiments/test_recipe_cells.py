"""A recipe changes one thing of a cell, and not how many images it is trained on."""

from samovar.experiments.recipe_cells import (
    with_alpha,
    with_many_ways,
    with_rate,
    with_small_updates,
)
from samovar.experiments.shared_cells import conv4_cell
from samovar.settings.stored import differences

CELL = conv4_cell("prototypes", 5, seed=2)


def changed_settings(recipe):
    return {".".join(change.path) for change in differences(CELL.settings, recipe.settings)}


def test_a_recipe_changes_what_it_says():
    assert changed_settings(with_rate(CELL, 0.02)) == {"optimizer.learning_rate"}
    assert changed_settings(with_alpha(CELL, 3.0)) == {"model.alpha"}
    many_ways = with_many_ways(CELL, 0.003)
    assert changed_settings(many_ways) == {"episodes.way", "tasks"}
    small_updates = with_small_updates(CELL, 0.003)
    assert "episodes.way" not in changed_settings(small_updates)
    budget = CELL.settings.updates * CELL.settings.images_per_update
    for recipe in (many_ways, small_updates):
        assert recipe.settings.updates * recipe.settings.images_per_update == budget
        assert recipe.settings.seed == 2


def test_the_recipe_of_the_table_is_the_tables_run():
    rate = CELL.settings.optimizer.learning_rate
    assert with_rate(CELL, rate).name == CELL.name
    assert with_rate(CELL, 2 * rate).name != CELL.name
