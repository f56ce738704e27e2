"""Pieces of the Markdown files: headings, tables, and numbers as they are printed."""

from collections.abc import Sequence

from samovar.evaluation.metrics import Estimate, with_interval
from samovar.experiments.cell import Cell, Scale

SIGN_NOTE = (
    "ECE is the calibration error of all queries, pooled. In brackets, with its sign, the gap "
    "between the mean top probability and the accuracy: + is too sure (over-confident), - too "
    "modest (under-confident)."
)
SEEDS_NOTE = "± is the 95 % interval over training seeds, where there are several."
CPU_LABEL = (
    "CPU scale: the same comparison as in the paper, on smaller data, with smaller networks and "
    "budgets. Published numbers are those of the paper's own scale, and stand apart."
)
GPU_LABEL = (
    "The paper's recipe, which needs GPUs: `samovar reproduce` trains none of it at CPU scale."
)


def heading(name: str, scale: Scale, cells: list[Cell]) -> list[str]:
    """Return the first lines of a file, which say at which scale its numbers were measured."""
    lines = [f"# {name} ({scale} scale)", ""]
    if scale == "cpu":
        label = CPU_LABEL
        if all(cell.needs_gpu for cell in cells):
            label = GPU_LABEL
        lines += [label, ""]
    return lines


def table_row(cells: Sequence[str]) -> str:
    """Return a row of a table.

    >>> table_row(["", "versa", "68.0"])
    '| | versa | 68.0 |'
    """
    row = "|"
    for cell in cells:
        row += f" {cell} |".replace("  ", " ")
    return row


def table_head(columns: Sequence[str]) -> list[str]:
    """Return the two lines that begin a table.

    >>> table_head(["shot", "accuracy"])
    ['| shot | accuracy |', '|---|---|']
    """
    return [table_row(columns), "|---" * len(columns) + "|"]


def grid(rows: list[str], columns: list[str], texts: dict[tuple[str, str], str]) -> list[str]:
    """Return a table with a name for each row; `texts` holds its cells by row and column."""
    lines = table_head(["", *columns])
    for row in rows:
        cells = [texts.get((row, column), "") for column in columns]
        lines.append(table_row([row, *cells]))
    return lines


def joined(lines: list[str]) -> str:
    """Return the lines as the content of a file."""
    return "\n".join(lines) + "\n"


def percent(value: Estimate, *, bold: bool = False) -> str:
    """Return a fraction with its interval in percent.

    >>> percent(Estimate(0.7097, 0.0025), bold=True)
    '**70.97** ± 0.25'
    """
    mean = f"{100 * value.mean:.2f}"
    if bold:
        mean = f"**{mean}**"
    return with_interval(mean, value.ci95, 100)


def points(value: Estimate) -> str:
    """Return a difference of fractions with its interval, in points.

    >>> points(Estimate(0.0135, 0.0009))
    '+1.35 ± 0.09'
    """
    return with_interval(f"{100 * value.mean:+.2f}", value.ci95, 100)


def calibration(ece: float, gap: float, ci95: float | None = None) -> str:
    """Return a calibration error, its interval over training seeds if there is one, and the gap.

    >>> calibration(0.0221, 0.0198, 0.004)
    '0.022 ± 0.004 (+0.020)'
    """
    interval = ""
    if ci95 is not None:
        interval = f" ± {ci95:.3f}"
    return f"{ece:.3f}{interval} ({gap:+.3f})"
