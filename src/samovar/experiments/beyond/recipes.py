"""Recipes within the same budget, chosen by accuracy on validation classes.

A lead over a rival means little if the rival was trained badly. The methods of Table 1 are tried
with other step sizes and with more classes in a training task, Prototypical Networks also with more
and smaller updates. TADAM and SAMOVAR of Table 2 are tried with other values of alpha, and where
there is none with other step sizes. Every recipe of a row sees the same number of training images,
and the choice looks at no test class.
"""

from dataclasses import replace
from typing import Any

from matplotlib.figure import Figure

from samovar.experiments.cell import Cell, Scale
from samovar.experiments.evidence import Evidence
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.figures import column, label_rows
from samovar.experiments.markdown import heading, joined, table_head, table_row
from samovar.experiments.recipe_cells import (
    PLAIN,
    PLAIN_RATE,
    SCALED_ROWS,
    chosen_conv4,
    chosen_resnet12,
    unscaled_tadam,
    with_alpha,
    with_many_ways,
    with_rate,
    with_small_updates,
)
from samovar.experiments.shared_cells import ablation_cell, conv4_cell, table2_row
from samovar.reporting.figures.style import BLUE, png
from samovar.settings.paper import SHOTS, Ablation, Method, Rival, Shot
from samovar.settings.tasks import named_protocol

AMORTIZED: tuple[Rival, ...] = ("samovar", "versa")
RATES = (1e-3, 3e-3, 1e-2)
"""Highest step sizes of Adam."""
PROTOTYPE_RATES: dict[Shot, tuple[float, ...]] = {
    1: (*RATES, 3e-2),
    5: (3e-3, 1e-2, 3e-2, 1e-1),
}
"""In 1-shot, which was tried first, larger step sizes are better, so 5-shot begins with 3e-3."""
MANY_WAY_RATES: dict[Shot, tuple[float, ...]] = {1: RATES, 5: (3e-2,)}
SMALL_UPDATE_RATES = (1e-3, 3e-3)
ALPHAS: dict[Shot, dict[Method, tuple[float, ...]]] = {
    5: {"tadam": (2.5, 7.5, 25.0), "samovar": (5.0, 10.0, 25.0)},
    1: {"tadam": (7.5,), "samovar": (10.0, 25.0)},
}
"""Factors of SC; the paper's 7.5 and 25 are for a network four times as wide, and miniImageNet."""
RESNET_RATES = (1e-3, 3e-3, 1e-2)
"""Highest step sizes of Adam for ResNet-12; Table 2 has the first."""


def cells(_scale: Scale) -> list[Cell]:
    """Return every recipe once, with one training seed."""
    recipes = []
    for shot in SHOTS:
        recipes += _recipes_of_table1(shot)
    for ablation in SCALED_ROWS:
        for shot in SHOTS:
            for method in ALPHAS[shot]:
                recipes += _recipes_of_table2(method, ablation, shot)
    for method in PLAIN_RATE:
        cell = ablation_cell("cpu", table2_row(PLAIN), method, 5)
        for rate in RESNET_RATES:
            recipe = with_rate(cell, rate)
            recipes.append(_candidate(replace(recipe, row=f"{method}, {cell.row}")))
    return recipes


def _recipes_of_table1(shot: Shot) -> list[Cell]:
    prototypes = conv4_cell("prototypes", shot)
    recipes = []
    for method in AMORTIZED:
        cell = conv4_cell(method, shot)
        recipes += [with_rate(cell, rate) for rate in RATES]
        recipes.append(with_many_ways(cell, cell.settings.optimizer.learning_rate))
    recipes += [with_rate(prototypes, rate) for rate in PROTOTYPE_RATES[shot]]
    recipes += [with_many_ways(prototypes, rate) for rate in MANY_WAY_RATES[shot]]
    if shot == 1:
        # Larger steps did as well there, so in 5-shot this is not tried.
        recipes += [with_small_updates(prototypes, rate) for rate in SMALL_UPDATE_RATES]
    return [_candidate(recipe) for recipe in recipes]


def _recipes_of_table2(method: Method, ablation: Ablation, shot: Shot) -> list[Cell]:
    cell = ablation_cell("cpu", table2_row(ablation), method, shot)
    recipes = [with_alpha(cell, alpha) for alpha in ALPHAS[shot][method]]
    if method == "tadam":
        unscaled = unscaled_tadam(ablation, shot)
        text = f"{unscaled.column}, the row without SC"
        recipes.insert(0, replace(unscaled, row=cell.row, column=text))
    return [_candidate(replace(recipe, row=f"{method}, {cell.row}")) for recipe in recipes]


def _candidate(recipe: Cell) -> Cell:
    """Return the recipe, to be measured on validation classes unless a table has it."""
    shot = recipe.settings.validation.shot
    recipe = replace(recipe, row=f"{recipe.row}, {shot}-shot")
    if recipe.group or recipe.name in _chosen():
        # A table compares it with others on test classes.
        return recipe
    return replace(
        recipe, protocol=replace(named_protocol("paper", shot), split="val", episodes=600)
    )


def _chosen() -> set[str]:
    """Return the runs that `tuned` measures on test classes."""
    names = {chosen_resnet12(method, PLAIN, 5).name for method in PLAIN_RATE}
    for shot in SHOTS:
        names |= {chosen_resnet12("samovar", ablation, shot).name for ablation in SCALED_ROWS}
        names |= {chosen_conv4(method, shot).name for method in (*AMORTIZED, "prototypes")}
    return names


def table(measurements: Measurements) -> ResultTable:
    """Return the validation accuracy of every recipe, and which one is the best of its row."""
    trained = [evidence for evidence in measurements.evidence if evidence.training is not None]
    results: list[dict[str, Any]] = []
    for evidence in measurements.evidence:
        result = {
            "row": evidence.cell.row,
            "column": evidence.cell.column,
            "run": evidence.cell.name,
        }
        if evidence.training is not None:
            best = _best_of_row(trained, evidence.cell.row)
            accuracy = _validation(evidence)
            results.append(result | {"validation_accuracy": accuracy, "best": accuracy == best})
        elif evidence.diverged_at is not None:
            results.append(result | {"diverged": evidence.diverged_at, "best": False})
    lines = heading("recipes", measurements.scale, measurements.cells)
    lines += [
        "The best accuracy on 200 validation tasks during training, which chooses the model that "
        "is kept; the interval over tasks is about ± 1.3 points. One training seed of each. Every "
        "recipe of a row sees the same number of training images.",
        "",
    ]
    lines += table_head(["", "recipe", "validation accuracy, %"])
    lines += [_line(result) for result in results]
    missing = len(measurements.cells) - len(results)
    if missing == 1:
        lines += ["", "1 recipe has not been trained yet."]
    elif missing > 1:
        lines += ["", f"{missing} recipes have not been trained yet."]
    data = {"format": 1, "name": "recipes", "scale": measurements.scale, "results": results}
    return ResultTable(data, joined(lines))


def _validation(evidence: Evidence) -> float:
    assert evidence.training is not None  # only those are asked for
    assert evidence.training.best_validation is not None  # every run is validated
    return evidence.training.best_validation


def _best_of_row(trained: list[Evidence], row: str) -> float:
    return max(_validation(evidence) for evidence in trained if evidence.cell.row == row)


def _line(result: dict[str, Any]) -> str:
    if "diverged" in result:
        failure = f"the loss was not finite at update {result['diverged']}"
        return table_row([result["row"], result["column"], failure])
    accuracy = f"{100 * result['validation_accuracy']:.1f}"
    if result["best"]:
        accuracy = f"**{accuracy}**"
    return table_row([result["row"], result["column"], accuracy])


def figure(data: dict[str, Any]) -> bytes:
    """Draw the validation accuracies, the best of each row filled."""
    results = [result for result in data["results"] if "diverged" not in result]
    picture = Figure(figsize=(8, 0.3 * len(results) + 1.2), layout="constrained")
    panel = picture.subplots()
    accuracies = column(results, "validation_accuracy", 100)
    for position, result in enumerate(results):
        face = BLUE if result["best"] else "none"
        panel.plot(accuracies[position], position, "o", mfc=face, mec=BLUE)
    label_rows(panel, results)
    panel.set(
        xlabel="accuracy on validation classes, %",
        title="Recipes: the best of each row is filled",
    )
    return png(picture)


EXPERIMENT = Experiment(name="recipes", cells=cells, table=table, figure=figure, beyond_paper=True)
