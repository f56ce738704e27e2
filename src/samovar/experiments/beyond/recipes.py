"""Recipes within the same budget, chosen by accuracy on validation classes.

A lead over a rival means little if the rival was trained badly. VERSA and Prototypical Networks of
Table 1 are tried with other step sizes, prototypes also with more classes in a training task, more
and smaller updates, or a factor before their distances. TADAM and SAMOVAR of Table 2 are tried with
other values of alpha. Every recipe of a row sees the same number of training images. No test class
is looked at.
"""

from dataclasses import replace
from typing import Any

from matplotlib.figure import Figure

from samovar.experiments.cell import Cell, Scale
from samovar.experiments.evidence import Evidence
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.figures import column, label_rows
from samovar.experiments.markdown import heading, joined, table_head, table_row
from samovar.experiments.shared_cells import ablation_cell, conv4_cell
from samovar.reporting.figures.style import BLUE, png
from samovar.settings.paper import SHOTS, TABLE_2, Ablation, Method, Rival, Shot
from samovar.settings.tasks import named_protocol
from samovar.settings.training import TrainSettings

RATES = (1e-3, 3e-3, 1e-2)
"""Highest step sizes of Adam."""
PROTOTYPE_RATES: dict[Shot, tuple[float, ...]] = {1: (*RATES, 3e-2), 5: (3e-3, 1e-2, 3e-2)}
"""In 1-shot, which was tried first, larger step sizes are better, so 5-shot begins with 3e-3."""
MANY_WAY_RATES: dict[Shot, tuple[float, ...]] = {1: RATES, 5: (1e-2,)}
SMALL_UPDATE_RATES: dict[Shot, tuple[float, ...]] = {1: (1e-3, 3e-3), 5: (3e-3,)}
MANY_WAYS = 20
"""Classes of a task that has as many images as the four usual tasks of an update together."""
SCALE = 0.1
"""A factor before the squared distances of prototypes, which are large at the start."""
ALPHAS: dict[Method, tuple[float, ...]] = {"tadam": (2.5, 7.5, 25.0), "samovar": (10.0, 25.0, 50.0)}
"""Factors of SC; the paper's 7.5 and 25 are for a network four times as wide, and miniImageNet."""
UNSCALED = 1.0
"""TADAM's factor without SC; the row of Table 2 without it is the same model."""
SCALED_ROWS = (Ablation(scaled=True), Ablation(scaled=True, auxiliary=True))
"""The rows of Table 2 on which alpha is tried."""


def cells(_scale: Scale) -> list[Cell]:
    """Return every recipe once, with one training seed."""
    recipes = []
    for shot in SHOTS:
        for rate in RATES:
            recipes.append(_with_rate("versa", shot, rate))
        for rate in PROTOTYPE_RATES[shot]:
            recipes.append(_with_rate("prototypes", shot, rate))
        for rate in MANY_WAY_RATES[shot]:
            recipes.append(_with_many_ways(shot, rate))
        for rate in SMALL_UPDATE_RATES[shot]:
            recipes.append(_with_small_updates(shot, rate))
        recipes.append(_with_scale(shot))
    for ablation in SCALED_ROWS:
        recipes.append(_unscaled(ablation))
        for method, alphas in ALPHAS.items():
            recipes += [_with_alpha(method, ablation, alpha) for alpha in alphas]
    return recipes


def _with_rate(rival: Rival, shot: Shot, rate: float) -> Cell:
    cell = conv4_cell(rival, shot)
    return _candidate(cell, f"rate{rate:g}", f"step size {rate:g}", _at_rate(cell.settings, rate))


def _with_many_ways(shot: Shot, rate: float) -> Cell:
    """Return prototypes trained on one task of 20 classes an update instead of four of 5."""
    cell = conv4_cell("prototypes", shot)
    settings = _at_rate(cell.settings, rate)
    episodes = replace(settings.episodes, way=MANY_WAYS)
    settings = replace(settings, episodes=episodes, tasks=1)
    text = f"{MANY_WAYS} ways, step size {rate:g}"
    return _candidate(cell, f"{MANY_WAYS}way-rate{rate:g}", text, settings)


def _with_small_updates(shot: Shot, rate: float) -> Cell:
    """Return prototypes trained on one task an update, with four times as many updates."""
    cell = conv4_cell("prototypes", shot)
    settings = _at_rate(cell.settings, rate)
    every = settings.tasks * settings.validation.every
    settings = replace(
        settings,
        tasks=1,
        updates=settings.tasks * settings.updates,
        validation=replace(settings.validation, every=every),
        checkpoint_every=every,
    )
    text = f"one task an update, step size {rate:g}"
    return _candidate(cell, f"1task-rate{rate:g}", text, settings)


def _with_scale(shot: Shot) -> Cell:
    """Return prototypes with a factor before their distances, at the step size of Table 1."""
    cell = conv4_cell("prototypes", shot)
    model = replace(cell.settings.model, alpha=SCALE)
    text = f"distances x {SCALE:g}, step size {cell.settings.optimizer.learning_rate:g}"
    return _candidate(cell, f"alpha{SCALE:g}", text, replace(cell.settings, model=model))


def _with_alpha(method: Method, ablation: Ablation, alpha: float) -> Cell:
    cell = _table2_cell(method, ablation)
    settings = replace(cell.settings, model=replace(cell.settings.model, alpha=alpha))
    candidate = _candidate(cell, f"alpha{alpha:g}", f"alpha {alpha:g}", settings)
    return replace(candidate, row=f"{method}, {cell.row}, 5-shot")


def _unscaled(ablation: Ablation) -> Cell:
    """Return TADAM's row of Table 2 that has everything but SC."""
    scaled = _table2_cell("tadam", ablation)
    cell = _table2_cell("tadam", replace(ablation, scaled=False))
    row = f"tadam, {scaled.row}, 5-shot"
    return replace(cell, row=row, column=f"alpha {UNSCALED:g}, the row without SC")


def _table2_cell(method: Method, ablation: Ablation) -> Cell:
    (row,) = [row for row in TABLE_2 if row.ablation == ablation]
    return ablation_cell("cpu", row, method, 5)


def _at_rate(settings: TrainSettings, rate: float) -> TrainSettings:
    return replace(settings, optimizer=replace(settings.optimizer, learning_rate=rate))


def _candidate(cell: Cell, name: str, text: str, settings: TrainSettings) -> Cell:
    """Return a cell with other settings; that of a table itself if nothing is changed."""
    shot = settings.validation.shot
    row = f"{cell.row}, {shot}-shot"
    if settings == cell.settings:
        return replace(cell, row=row, column=text)
    return Cell(
        name=f"{cell.name}-{name}",
        row=row,
        column=text,
        settings=settings,
        protocol=replace(named_protocol("paper", shot), split="val", episodes=600),
    )


def table(measurements: Measurements) -> ResultTable:
    """Return the validation accuracy of every recipe, and which one is the best of its row."""
    trained = [evidence for evidence in measurements.evidence if evidence.training is not None]
    results = []
    for evidence in trained:
        best = _best_of_row(trained, evidence.cell.row)
        results.append(
            {
                "row": evidence.cell.row,
                "column": evidence.cell.column,
                "run": evidence.cell.name,
                "validation_accuracy": _validation(evidence),
                "best": _validation(evidence) == best,
            }
        )
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
    accuracy = f"{100 * result['validation_accuracy']:.1f}"
    if result["best"]:
        accuracy = f"**{accuracy}**"
    return table_row([result["row"], result["column"], accuracy])


def figure(data: dict[str, Any]) -> bytes:
    """Draw the validation accuracies, the best of each row filled."""
    results = data["results"]
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
