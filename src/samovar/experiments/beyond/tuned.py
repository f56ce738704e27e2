"""SAMOVAR and its rivals of Tables 1 and 2, each by the recipe that validation chose.

A lead over a rival means little if the rival was trained badly, or with a factor that was chosen
for another network. `recipes` tries several on validation classes. Here the best of each row stands
beside SAMOVAR's best on test classes, with the training seeds of the tables.
"""

from dataclasses import replace

from samovar.experiments.accuracy_table import accuracy_table
from samovar.experiments.cell import Cell, Scale
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.figures import accuracy_figure
from samovar.experiments.recipe_cells import PLAIN, SCALED_ROWS, chosen_conv4, chosen_resnet12
from samovar.experiments.shared_cells import SEEDS, table2_row
from samovar.settings.paper import SHOTS, TABLE_1, Ablation, Rival, Shot

RIVALS: tuple[Rival, Rival] = ("versa", "prototypes")
"""The rivals of Table 1; separate networks are an ablation of SAMOVAR."""


def cells(_scale: Scale) -> list[Cell]:
    """Return SAMOVAR beside each rival, both by their chosen recipes."""
    compared = []
    for rival in RIVALS:
        for shot in SHOTS:
            for seed in range(SEEDS):
                compared += _beside_rival(rival, shot, seed)
    for seed in range(SEEDS):
        compared += _beside_tadam(PLAIN, 5, seed)
    for ablation in SCALED_ROWS:
        for shot in SHOTS:
            # In 1-shot, Table 2 has one training seed.
            for seed in range(SEEDS if shot == 5 else 1):
                compared += _beside_tadam(ablation, shot, seed)
    return compared


def _beside_rival(rival: Rival, shot: Shot, seed: int) -> list[Cell]:
    samovar = chosen_conv4("samovar", shot, seed)
    other = chosen_conv4(rival, shot, seed)
    if rival in TABLE_1:
        samovar = replace(samovar, published=TABLE_1["samovar"].at(shot))
        other = replace(other, published=TABLE_1[rival].at(shot))
    else:
        # The paper has no Prototypical Networks to agree with.
        samovar = replace(samovar, published=None)
    return _row(f"beside {rival}, {shot}-shot", samovar, other, rival)


def _beside_tadam(ablation: Ablation, shot: Shot, seed: int) -> list[Cell]:
    row = table2_row(ablation)
    samovar = chosen_resnet12("samovar", ablation, shot, seed)
    samovar = replace(samovar, published=row.published("samovar", shot))
    # What the paper compares with is TADAM with the alpha that was best for it.
    tadam = chosen_resnet12("tadam", ablation, shot, seed)
    tadam = replace(tadam, published=row.published("tadam", shot))
    return _row(f"beside tadam, {samovar.row}, {shot}-shot", samovar, tadam, "tadam")


def _row(row: str, samovar: Cell, rival: Cell, name: str) -> list[Cell]:
    """Return both as a row of the table, which says by which recipes they are compared."""
    group = f"{row} ({samovar.column}; {name}: {rival.column})"
    return [
        replace(samovar, row=row, column="samovar", group=group, method="samovar"),
        replace(rival, row=row, column="rival", group=group, method=name),
    ]


def table(measurements: Measurements) -> ResultTable:
    """Return the accuracies, and SAMOVAR's lead over each rival."""
    made = accuracy_table("tuned", measurements)
    note = (
        "Every recipe was the best on validation classes of those that have been tried for its row "
        "(`samovar reproduce recipes`)."
    )
    return ResultTable(made.data, f"{made.markdown}\n{note}\n")


EXPERIMENT = Experiment(
    name="tuned", cells=cells, table=table, figure=accuracy_figure, beyond_paper=True
)
