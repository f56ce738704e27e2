"""Tables 3, 4 and 5: SAMOVAR on miniImageNet, FC100 and CIFAR-FS, with data augmentation.

They have the same form. Table 3 is trained at the paper's scale only, because miniImageNet needs
GPUs; two of its rows are runs of Tables 1 and 2. At CPU scale Tables 4 and 5 train a narrow
ResNet-12 with and without augmentation.
"""

from dataclasses import replace

from samovar.experiments.accuracy_table import accuracy_table
from samovar.experiments.cell import Cell, Scale
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.figures import accuracy_figure
from samovar.experiments.markdown import joined
from samovar.experiments.quoted import quoted_lines, quoted_rows
from samovar.experiments.shared_cells import (
    conv5_cell,
    full_model_cell,
    narrow_resnet12,
    preset_cell,
)
from samovar.settings.paper import AUGMENTED, FULL, SHOTS, Benchmark, Shot
from samovar.settings.tasks import Protocol, named_protocol


def table3_cells(scale: Scale) -> list[Cell]:
    """Return the paper's own rows on miniImageNet; none of them is trained at CPU scale."""
    rows = []
    for shot in SHOTS:
        rows.append(replace(conv5_cell("samovar", shot), row="SAMOVAR-base, CONV-5"))
    for shot in SHOTS:
        cell = full_model_cell("paper", shot)
        rows.append(replace(cell, row="SAMOVAR-SC-AT-TEN", column=f"{shot}-shot"))
    rows += [_augmented_cell("miniimagenet", shot) for shot in SHOTS]
    # Rows of different networks are not compared with each other.
    return [replace(cell, method="", group="", needs_gpu=scale == "cpu") for cell in rows]


def table4_cells(scale: Scale) -> list[Cell]:
    """Return SAMOVAR-SC-AT-TEN on FC100."""
    return _cells("fc100", scale)


def table5_cells(scale: Scale) -> list[Cell]:
    """Return SAMOVAR-SC-AT-TEN on CIFAR-FS."""
    return _cells("cifar_fs", scale)


def _cells(data: Benchmark, scale: Scale) -> list[Cell]:
    cells = []
    for shot in SHOTS:
        if scale == "paper":
            cells.append(_augmented_cell(data, shot))
        else:
            cells.append(_narrow_cell(data, shot, augmented=True))
            cells.append(_narrow_cell(data, shot, augmented=False))
    return cells


def _augmented_cell(data: Benchmark, shot: Shot) -> Cell:
    """Return the full model with augmentation at the paper's scale."""
    table_number = AUGMENTED[data].at(shot).table
    return preset_cell(
        f"table{table_number}-{data}-{shot}shot",
        row="SAMOVAR-SC-AT-TEN, augmented",
        column=f"{shot}-shot",
        protocol=named_protocol("paper", shot),
    )


def _narrow_cell(data: Benchmark, shot: Shot, *, augmented: bool) -> Cell:
    """Return the full model at CPU scale, with or without augmentation."""
    kind = "augmented" if augmented else "plain"
    name = f"{data}-narrow-samovar-sc-at-ten-augmented-{shot}shot"
    published = AUGMENTED[data].at(shot)
    cell = Cell(
        name=name,
        row=f"SAMOVAR-SC-AT-TEN, {kind}",
        column=f"{shot}-shot",
        settings=narrow_resnet12(data, shot, "samovar", FULL, augmented=augmented),
        protocol=named_protocol("paper", shot),
        published=published,
        method=kind,
        group=f"{shot}-shot",
    )
    if augmented:
        return cell
    other_protocols: tuple[Protocol, ...] = ()
    if data == "cifar_fs":
        # This is the run of Table 2, which has TADAM's protocol.
        other_protocols = (named_protocol("tadam", shot),)
    return replace(
        cell,
        name=f"{data}-narrow-samovar-sc-at-ten-{shot}shot",
        published=None,  # the paper has no such row
        other_protocols=other_protocols,
    )


def table3(measurements: Measurements) -> ResultTable:
    """Return the accuracies of Table 3, ours beside the published ones."""
    return _with_quoted_rows(accuracy_table("table3", measurements))


def table4(measurements: Measurements) -> ResultTable:
    """Return the accuracies of Table 4, ours beside the published ones."""
    return _with_quoted_rows(accuracy_table("table4", measurements))


def table5(measurements: Measurements) -> ResultTable:
    """Return the accuracies of Table 5, ours beside the published ones."""
    return _with_quoted_rows(accuracy_table("table5", measurements))


def _with_quoted_rows(table: ResultTable) -> ResultTable:
    """Add the rows of other methods that the paper quotes below our own."""
    rows = quoted_rows(table.data["name"])
    data = table.data | {"quoted": [row.to_json() for row in rows]}
    return ResultTable(data, table.markdown + "\n" + joined(quoted_lines(rows)))


TABLE3 = Experiment(name="table3", cells=table3_cells, table=table3, figure=accuracy_figure)
TABLE4 = Experiment(name="table4", cells=table4_cells, table=table4, figure=accuracy_figure)
TABLE5 = Experiment(name="table5", cells=table5_cells, table=table5, figure=accuracy_figure)
