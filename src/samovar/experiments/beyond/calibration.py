"""Calibration of the models of Table 1, sampled and at the mean: NLL and ECE."""

from typing import Any

from matplotlib.figure import Figure

from samovar.evaluation.metrics import with_interval
from samovar.experiments.accuracy_table import accuracy_table
from samovar.experiments.calibration_table import calibration_lines, measured_entries
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.figures import column, draw_rings, label_rows
from samovar.experiments.markdown import heading, joined
from samovar.experiments.paired import PairedDifference, paired_differences
from samovar.experiments.shared_cells import table1_cells
from samovar.reporting.figures.style import BLUE, png

AXES = {
    "nll": "NLL (lower is better)",
    "ece": "ECE (lower is better)",
    "gap": "mean top probability - accuracy\n(right of 0: too sure)",
}
"""The metrics of the picture with the labels of their axes."""


def table(measurements: Measurements) -> ResultTable:
    """Return NLL and ECE of each method, and the paired differences in NLL."""
    data = accuracy_table("calibration", measurements).data
    differences = paired_differences(measurements.evidence, "nll")
    # The file is that of a table of accuracies, but its differences are in NLL.
    data["paired"] = [difference.to_json() for difference in differences]
    lines = heading("calibration", measurements.scale, measurements.cells)
    lines += calibration_lines(data["cells"])
    if differences:
        lines += [
            "",
            "Paired differences of the NLL on the same tasks "
            "(95 % interval over tasks; below 0 is better):",
            "",
        ]
        lines += [_text(difference) for difference in differences]
    return ResultTable(data, joined(lines))


def _text(difference: PairedDifference) -> str:
    seeds = "one training seed"
    over_seeds = difference.over_seeds
    if over_seeds is not None:
        seeds = f"over seeds {over_seeds.mean:+.3f} ± {over_seeds.ci95:.3f}"
    value = with_interval(f"{difference.mean:+.4f}", difference.ci95, digits=4)
    return f"- {difference.label}: {value} ({seeds})"


def figure(data: dict[str, Any]) -> bytes:
    """Draw NLL, ECE and gap of sampled classifiers, and of the classifier at the mean as rings."""
    entries = measured_entries(data["cells"])
    positions = range(len(entries))
    picture = Figure(figsize=(13, 0.36 * len(entries) + 1.6), layout="constrained")
    panels = picture.subplots(1, 3, sharey=True)
    panels[2].axvline(0, color="0.7", linewidth=1)
    for panel, metric in zip(panels, AXES, strict=True):
        draw_rings(panel, column(entries, f"mean_classifier_{metric}"), positions)
        panel.plot(column(entries, metric), positions, "o", color=BLUE)
        label_rows(panel, entries)
        panel.set(xlabel=AXES[metric])
    picture.suptitle(
        f"Calibration ({data['scale']} scale): sampled classifiers filled, at the mean as rings"
    )
    return png(picture)


EXPERIMENT = Experiment(
    name="calibration", cells=table1_cells, table=table, figure=figure, beyond_paper=True
)
