"""Appendix D: VERSA's predicted variance collapses during training, SAMOVAR's does not."""

from dataclasses import asdict
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from samovar.experiments.cell import Cell, Scale
from samovar.experiments.evidence import Evidence
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.figures import Rows, column, distinct, matching, method_color
from samovar.experiments.markdown import heading, joined, table_head, table_row
from samovar.experiments.shared_cells import conv4_cell, conv5_cell
from samovar.reporting.figures.style import png
from samovar.settings.paper import COLLAPSE_STEP, COLLAPSE_VARIANCE, SHOTS, Rival

METHODS: tuple[Rival, Rival] = ("versa", "samovar")


def cells(scale: Scale) -> list[Cell]:
    """Return VERSA and SAMOVAR-base of Table 1, whose largest predicted variance is traced."""
    traced = []
    for shot in SHOTS:
        for method in METHODS:
            if scale == "paper":
                traced.append(conv5_cell(method, shot))
            else:
                traced.append(conv4_cell(method, shot))
    return traced


def table(measurements: Measurements) -> ResultTable:
    """Return the first step at which the largest weight variance is below 0.001, and the trace."""
    results = [_result(evidence) for evidence in measurements.measured]
    lines = heading("collapse", measurements.scale, measurements.cells)
    lines += [
        f"First step at which the largest variance of the weights is below {COLLAPSE_VARIANCE} "
        "(traced every 250 steps):",
        "",
    ]
    lines += table_head(["", "ours", "paper", "largest variance at the end"])
    lines += [_row(result) for result in results]
    data = {"format": 1, "name": "collapse", "scale": measurements.scale, "results": results}
    return ResultTable(data, joined(lines))


def _result(evidence: Evidence) -> dict[str, Any]:
    assert evidence.training is not None  # it has been measured
    first_below = None
    for point in evidence.training.variances:
        if point.largest_weight_variance < COLLAPSE_VARIANCE:
            first_below = point.update
            break
    cell = evidence.cell
    published = None
    # SAMOVAR does not collapse in the paper, so there is no step to compare with.
    if cell.row == "versa":
        published = COLLAPSE_STEP.get(cell.settings.episodes.shot)
    return {
        "method": cell.row,
        "shot": cell.settings.episodes.shot,
        "first_below": first_below,
        "published": published,
        "trace": [asdict(point) for point in evidence.training.variances],
    }


def _row(result: dict[str, Any]) -> str:
    ours = "never"
    if result["first_below"] is not None:
        ours = str(result["first_below"])
    paper = "does not collapse"
    if result["published"] is not None:
        paper = f"about {result['published']}"
    last = result["trace"][-1]["largest_weight_variance"]
    return table_row([f"{result['method']} {result['shot']}-shot", ours, paper, f"{last:.2g}"])


def figure(data: dict[str, Any]) -> bytes:
    """Draw the largest variance over updates; below it, zoomed in from where it is under 0.001."""
    shots = distinct(data["results"], "shot")[::-1]
    picture = Figure(figsize=(5.2 * len(shots), 6.6), layout="constrained")
    for position, shot in enumerate(shots, start=1):
        results = matching(data["results"], "shot", shot)
        panel = picture.add_subplot(2, len(shots), position)
        _draw_whole(panel, shot, results)
        if position == 1:
            handles, labels = panel.get_legend_handles_labels()
            picture.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        collapsed = [result for result in results if result["first_below"] is not None]
        if collapsed:
            zoomed = picture.add_subplot(2, len(shots), len(shots) + position)
            _draw_zoomed(zoomed, shot, results, collapsed)
    picture.suptitle(f"Collapse of the variance ({data['scale']} scale)")
    return png(picture)


def _draw_whole(panel: Axes, shot: int, results: Rows) -> None:
    _draw_variances(panel, results, start=0)
    title = f"{shot}-shot"
    for result in results:
        if result["published"] is not None:
            title += f" (paper: VERSA below 0.001 at about {result['published']})"
            break
    panel.set(title=title, xlabel="update", ylabel="largest variance", yscale="log")
    panel.title.set_fontsize(10)


def _draw_zoomed(panel: Axes, shot: int, results: Rows, collapsed: Rows) -> None:
    start = distinct(collapsed, "first_below")[0]
    _draw_variances(panel, results, start)
    # The axis fits the collapsed methods; the others may leave it.
    highest = 0.002
    for result in collapsed:
        for point in result["trace"]:
            if point["update"] >= start:
                highest = max(highest, point["largest_weight_variance"])
    panel.set(
        title=f"{shot}-shot, from update {start}",
        xlabel="update",
        ylabel="largest variance",
        ylim=(0, 1.1 * highest),
    )


def _draw_variances(panel: Axes, results: Rows, start: int) -> None:
    for result in results:
        trace = [point for point in result["trace"] if point["update"] >= start]
        color = method_color(result["method"])
        for kind, key, style in (
            ("weights", "largest_weight_variance", "-"),
            ("biases", "largest_bias_variance", ":"),
        ):
            label = f"{result['method']}, {kind}"
            panel.plot(column(trace, "update"), column(trace, key), style, color=color, label=label)
    panel.axhline(COLLAPSE_VARIANCE, color="0.7", linewidth=0.8)


EXPERIMENT = Experiment(name="collapse", cells=cells, table=table, figure=figure)
