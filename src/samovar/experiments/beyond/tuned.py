"""The rivals of Tables 1 and 2 by the recipe that validation chose.

A lead over a rival means little if the rival was trained badly, or with a factor that was chosen
for another network. `recipes` tries several on validation classes. Here the best of each row stands
beside SAMOVAR on test classes, with the training seeds of the tables.
"""

from dataclasses import replace

from samovar.experiments.accuracy_table import accuracy_table
from samovar.experiments.cell import Cell, Scale
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.figures import accuracy_figure
from samovar.experiments.recipe_cells import SCALED_ROWS, chosen_prototypes
from samovar.experiments.shared_cells import SEEDS, ablation_cell, conv4_cell, table2_row
from samovar.settings.paper import SHOTS, Ablation, Shot

COLUMNS = ("SAMOVAR", "rival, chosen recipe", "rival, recipe of its table")


def cells(_scale: Scale) -> list[Cell]:
    """Return SAMOVAR beside each rival by its chosen recipe and by that of its table."""
    compared = []
    for shot in SHOTS:
        for seed in range(SEEDS):
            compared += _prototypes(shot, seed)
    for ablation in SCALED_ROWS:
        for shot in SHOTS:
            # In 1-shot, Table 2 has one training seed.
            for seed in range(SEEDS if shot == 5 else 1):
                compared += _tadam(ablation, shot, seed)
    return compared


def _prototypes(shot: Shot, seed: int) -> list[Cell]:
    former = conv4_cell("prototypes", shot, seed)
    chosen = chosen_prototypes(shot, seed)
    members = [conv4_cell("samovar", shot, seed), chosen, former]
    methods = ["samovar", f"prototypes, {chosen.column}", "prototypes as in Table 1"]
    # The paper has no Prototypical Networks to agree with.
    members = [replace(member, published=None) for member in members]
    return _row(f"Prototypical Networks, {shot}-shot", members, methods)


def _tadam(ablation: Ablation, shot: Shot, seed: int) -> list[Cell]:
    """Return TADAM with an alpha of 1, which is its row without SC, beside its row with SC."""
    scaled = table2_row(ablation)
    unscaled = table2_row(replace(ablation, scaled=False))
    chosen = ablation_cell("cpu", unscaled, "tadam", shot, seed)
    members = [
        ablation_cell("cpu", scaled, "samovar", shot, seed),
        # What the paper compares with is TADAM with the alpha that was best for it.
        replace(chosen, published=scaled.published("tadam", shot)),
        replace(ablation_cell("cpu", scaled, "tadam", shot, seed), published=None),
    ]
    methods = ["samovar", "tadam with an alpha of 1", "tadam as in Table 2"]
    return _row(f"TADAM, {members[0].row}, {shot}-shot", members, methods)


def _row(row: str, members: list[Cell], methods: list[str]) -> list[Cell]:
    """Return the cells as a row of the table, whose members are compared with each other."""
    placed = []
    for member, method, column in zip(members, methods, COLUMNS, strict=True):
        placed.append(replace(member, row=row, column=column, group=row, method=method))
    return placed


def table(measurements: Measurements) -> ResultTable:
    """Return the accuracies, and SAMOVAR's lead over each rival by both recipes."""
    made = accuracy_table("tuned", measurements)
    note = (
        "The recipe of every rival in the second column was the best of its row on validation "
        "classes (`samovar reproduce recipes`). SAMOVAR's is that of its table. Alpha was chosen "
        "in 5-shot and is taken over in 1-shot."
    )
    return ResultTable(made.data, f"{made.markdown}\n{note}\n")


EXPERIMENT = Experiment(
    name="tuned", cells=cells, table=table, figure=accuracy_figure, beyond_paper=True
)
