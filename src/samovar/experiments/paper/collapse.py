"""Appendix D: VERSA's predicted variance collapses during training, SAMOVAR's does not.

At CPU scale there are two recipes: that of Table 1, whose steps are much larger than the paper's,
and the paper's own on CIFAR-FS instead of miniImageNet, until just after the published steps.
"""

from dataclasses import asdict, replace
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
from samovar.settings.paper import COLLAPSE_STEP, COLLAPSE_VARIANCE, SHOTS, Rival, Shot
from samovar.settings.recipes import conv5_miniimagenet
from samovar.settings.tasks import named_protocol
from samovar.settings.training import ValidationSettings

METHODS: tuple[Rival, Rival] = ("versa", "samovar")
EVERY = 250
"""Updates between the points of a trace."""
PAPER_STEPS = "the paper's steps"
"""Cells of this group are trained by the paper's recipe on other data."""


def cells(scale: Scale) -> list[Cell]:
    """Return VERSA and SAMOVAR-base of Table 1, whose largest predicted variance is traced."""
    traced = []
    for shot in SHOTS:
        for method in METHODS:
            if scale == "paper":
                traced.append(conv5_cell(method, shot))
            else:
                traced.append(conv4_cell(method, shot))
                traced.append(_with_paper_steps(method, shot))
    return traced


def _with_paper_steps(method: Rival, shot: Shot) -> Cell:
    """Return the paper's recipe on CIFAR-FS, until one point after the published step.

    Step size, queries, dropout, batch norm and beta are the paper's. CONV-4 has as many features as
    CONV-5, so that beta is the same.
    """
    paper = conv5_miniimagenet(method, shot)
    updates = COLLAPSE_STEP[shot] + EVERY
    settings = replace(
        paper,
        data=replace(paper.data, name="cifar_fs"),
        model=replace(paper.model, backbone="conv4", size=32),
        updates=updates,
        validation=ValidationSettings(every=updates, shot=shot),
        checkpoint_every=EVERY,
        trace_every=EVERY,
    )
    return Cell(
        name=f"cifar_fs-conv4-{method}-{shot}shot-paper-steps",
        row=method,
        column=f"{shot}-shot",
        settings=settings,
        # The accuracy is not what counts here, and with episode norm every task is embedded anew.
        protocol=replace(named_protocol("paper", shot), episodes=600),
        method=method,
        group=PAPER_STEPS,
    )


def table(measurements: Measurements) -> ResultTable:
    """Return the first step at which the largest weight variance is below 0.001, and the trace."""
    results = [_result(evidence, measurements.scale) for evidence in measurements.measured]
    lines = heading("collapse", measurements.scale, measurements.cells)
    lines += [
        f"First step at which the largest variance of the weights is below {COLLAPSE_VARIANCE} "
        f"(traced every {EVERY} steps). Only with the paper's step size can it be compared with "
        "the published one:",
        "",
    ]
    lines += table_head(["", "ours", "paper", "largest variance at the end"])
    lines += [_row(result) for result in results]
    data = {"format": 1, "name": "collapse", "scale": measurements.scale, "results": results}
    return ResultTable(data, joined(lines))


def _result(evidence: Evidence, scale: Scale) -> dict[str, Any]:
    assert evidence.training is not None  # it has been measured
    first_below = None
    for point in evidence.training.variances:
        if point.largest_weight_variance < COLLAPSE_VARIANCE:
            first_below = point.update
            break
    cell = evidence.cell
    recipe = "the recipe of Table 1"
    if scale == "paper" or cell.group == PAPER_STEPS:
        recipe = PAPER_STEPS
    published = None
    # SAMOVAR does not collapse in the paper, so there is no step to compare with.
    if cell.row == "versa" and recipe == PAPER_STEPS:
        published = COLLAPSE_STEP.get(cell.settings.episodes.shot)
    return {
        "method": cell.row,
        "recipe": recipe,
        "shot": cell.settings.episodes.shot,
        "first_below": first_below,
        "published": published,
        "trace": [asdict(point) for point in evidence.training.variances],
    }


def _row(result: dict[str, Any]) -> str:
    ours = "never"
    if result["first_below"] is not None:
        ours = str(result["first_below"])
    paper = ""
    if result["method"] != "versa":
        paper = "does not collapse"
    elif result["published"] is not None:
        paper = f"about {result['published']}"
    last = result["trace"][-1]["largest_weight_variance"]
    name = f"{result['method']} {result['shot']}-shot, {result['recipe']}"
    return table_row([name, ours, paper, f"{last:.2g}"])


def figure(data: dict[str, Any]) -> bytes:
    """Draw the largest variance over updates; below it, zoomed in from where it is under 0.001."""
    drawn = _of_each_recipe(data["results"])
    picture = Figure(figsize=(5.2 * len(drawn), 6.6), layout="constrained")
    for position, results in enumerate(drawn, start=1):
        panel = picture.add_subplot(2, len(drawn), position)
        _draw_whole(panel, results)
        if position == 1:
            handles, labels = panel.get_legend_handles_labels()
            picture.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        collapsed = [result for result in results if result["first_below"] is not None]
        if collapsed:
            zoomed = picture.add_subplot(2, len(drawn), len(drawn) + position)
            _draw_zoomed(zoomed, results, collapsed)
    picture.suptitle(f"Collapse of the variance ({data['scale']} scale)")
    return png(picture)


def _of_each_recipe(results: Rows) -> list[Rows]:
    """Return the results of each recipe and shot, which share a column of the picture."""
    alike = []
    for recipe in distinct(results, "recipe"):
        of_recipe = matching(results, "recipe", recipe)
        for shot in distinct(of_recipe, "shot")[::-1]:
            alike.append(matching(of_recipe, "shot", shot))
    return alike


def _draw_whole(panel: Axes, results: Rows) -> None:
    _draw_variances(panel, results, start=0)
    title = f"{results[0]['shot']}-shot, {results[0]['recipe']}"
    for result in results:
        if result["published"] is not None:
            title += f" (VERSA in the paper: about {result['published']})"
            break
    panel.set(title=title, xlabel="update", ylabel="largest variance", yscale="log")
    panel.title.set_fontsize(10)


def _draw_zoomed(panel: Axes, results: Rows, collapsed: Rows) -> None:
    start = distinct(collapsed, "first_below")[0]
    _draw_variances(panel, results, start)
    # The axis fits the collapsed methods; the others may leave it.
    highest = 0.002
    for result in collapsed:
        for point in result["trace"]:
            if point["update"] >= start:
                highest = max(highest, point["largest_weight_variance"])
    panel.set(
        title=f"{results[0]['shot']}-shot, from update {start}",
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
