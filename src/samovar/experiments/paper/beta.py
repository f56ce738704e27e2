"""The beta figure: accuracy over the weight of the KL term.

At the paper's scale beta is tried at multiples of the preset's own, at CPU scale at multiples of
M / (N d), which weighs mean NLL and mean KL equally; always on the same training tasks. The paper
claims that its choice matters little; we judge that on the same test tasks, around the best of our
own multiples.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from samovar.evaluation.metrics import Estimate
from samovar.experiments.cell import Cell, Scale
from samovar.experiments.evidence import Evidence
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.figures import Rows, column, distinct, matching, percent_interval
from samovar.experiments.markdown import (
    SIGN_NOTE,
    calibration,
    heading,
    joined,
    percent,
    points,
    table_head,
    table_row,
)
from samovar.experiments.records import SampledAccuracies
from samovar.experiments.shared_cells import conv4_cell, conv5_cell
from samovar.reporting.figures.style import BLUE, VERMILION, png
from samovar.settings.model import balanced_beta
from samovar.settings.paper import BETA_CLAIMS, SHOTS, BetaClaim
from samovar.settings.recipes import CONV4_FEATURES

MULTIPLES: dict[Scale, tuple[float, ...]] = {
    "cpu": (0.1, 0.66, 1.0, 2.0, 5.0),
    "paper": (0.1, 0.33, 0.66, 0.83, 1.0, 1.5, 2.0, 5.0, 10.0),
}
SAMPLES = ("prior single", "prior average", "posterior single", "posterior average")


def cells(scale: Scale) -> list[Cell]:
    """Return SAMOVAR-base at several multiples of beta."""
    tried = []
    for shot in SHOTS:
        base = conv4_cell("samovar", shot)
        unit = _balanced_beta(base)
        if scale == "paper":
            base = conv5_cell("samovar", shot)
            unit = base.settings.model.beta or unit
        tried += [_with_multiple(base, multiple, unit) for multiple in MULTIPLES[scale]]
    return tried


def _with_multiple(cell: Cell, multiple: float, unit: float) -> Cell:
    """Return the cell with beta = multiple * unit; the run of Table 1 itself where it has that."""
    row = f"{multiple:g}"
    settings = cell.settings
    beta: float | None = multiple * unit
    if beta == (settings.model.beta or unit):
        return replace(cell, row=row)
    if beta == _balanced_beta(cell):
        beta = None  # which stands for M / (N d)
    return replace(
        cell,
        name=f"{cell.name}-beta{multiple:g}",
        row=row,
        settings=replace(settings, model=replace(settings.model, beta=beta)),
        other_protocols=(),  # other shots are measured for Table 1 only
    )


def _balanced_beta(cell: Cell) -> float:
    """Return M / (N d) of a cell at CPU scale."""
    episodes = cell.settings.episodes
    return balanced_beta(episodes.way * episodes.queries, episodes.way, CONV4_FEATURES)


def table(measurements: Measurements) -> ResultTable:
    """Return the accuracies at each beta, and whether the paper's claim holds."""
    results = []
    for evidence in measurements.measured:
        # Models with TEN or without variances have none.
        if evidence.training is not None and evidence.training.samples is not None:
            results.append(_result(evidence, evidence.training.samples))
    claims = _judge_claims(measurements)
    lines = heading("beta", measurements.scale, measurements.cells)
    lines += [
        "Accuracy in percent. Every beta was trained on the same tasks. x 1 is the preset's own "
        "beta at the paper's scale, and M / (N d), which weighs mean NLL and mean KL equally, at "
        "CPU scale, where the models of Table 1 have x 1 in 5-shot and x 2 in 1-shot. `predictive` "
        "averages 1000 classifiers of the prior, `average` 100. The posterior has seen the labels "
        "of the very queries it classifies, so it is not a predictor. " + SIGN_NOTE,
        "",
    ]
    lines += table_head(["shot", "beta", "predictive", "its ECE", *SAMPLES])
    lines += [_row(result) for result in results]
    for claim in claims:
        lines += ["", claim.text]
    data = {
        "format": 1,
        "name": "beta",
        "scale": measurements.scale,
        "results": results,
        "claims": [asdict(claim) for claim in claims],
    }
    return ResultTable(data, joined(lines))


def _result(evidence: Evidence, samples: SampledAccuracies) -> dict[str, Any]:
    metrics = evidence.summary().sampled
    return {
        "multiple": float(evidence.cell.row),
        "shot": evidence.cell.settings.episodes.shot,
        "samples": samples.to_json(),
        "predictive": Estimate.of(evidence.task_accuracies).to_json(),
        "ece": metrics.ece,
        "gap": metrics.gap,
    }


def _row(result: dict[str, Any]) -> str:
    cells = [
        str(result["shot"]),
        f"x {result['multiple']:g}",
        percent(Estimate(**result["predictive"])),
        calibration(result["ece"], result["gap"]),
    ]
    for name in SAMPLES:
        cells.append(percent(Estimate(**result["samples"][name])))
    return table_row(cells)


@dataclass(frozen=True)
class JudgedClaim:
    """Whether the paper's claim on beta holds for our models."""

    shot: int
    holds: bool | None
    """None where it cannot be decided."""
    text: str


def _judge_claims(measurements: Measurements) -> list[JudgedClaim]:
    """Judge the claims on the shots of which there are cells."""
    tried: dict[int, list[Evidence]] = {}
    for evidence in measurements.evidence:
        tried.setdefault(evidence.cell.settings.episodes.shot, []).append(evidence)
    claims = []
    for shot, claim in BETA_CLAIMS.items():
        if shot in tried:
            claims.append(judge_claim(shot, claim, tried[shot]))
    return claims


def judge_claim(shot: int, claim: BetaClaim, tried: list[Evidence]) -> JudgedClaim:
    """Judge whether betas around our best stay close to its accuracy, on the same tasks."""
    sentence = (
        f"The paper's claim ({shot}-shot): from {claim.low} to {claim.high} times the best beta, "
        f"accuracy stays within {claim.points:g} % of the best. "
    )
    accuracies = {}
    for evidence in tried:
        if evidence.is_measured:
            accuracies[float(evidence.cell.row)] = evidence.task_accuracies
    if len(accuracies) < len(tried):
        text = f"{sentence}Not decided: {len(accuracies)} of {len(tried)} runs are measured."
        return JudgedClaim(shot, None, text)
    best = max(accuracies, key=lambda multiple: float(accuracies[multiple].mean()))
    losses = _losses(accuracies, best)
    near = _within(losses, best, claim)
    beyond = not near
    if beyond:
        near = _neighbours(losses, best, claim)
    holds = all(loss.mean > -claim.points / 100 for loss in near.values())
    # Neighbours outside of the range speak for all that lies between them only if they are good
    # enough themselves.
    if not near or (beyond and not holds):
        text = f"{sentence}Not decided: no other beta of that range was tried."
        return JudgedClaim(shot, None, text)
    compared = ", ".join(f"x {multiple:g}: {points(loss)}" for multiple, loss in near.items())
    verdict = _verdict(holds=holds, beyond=beyond)
    text = f"{sentence}Our best is x {best:g}; compared with it, {compared}. {verdict}"
    return JudgedClaim(shot, holds, text)


def _losses(accuracies: dict[float, NDArray[np.float64]], best: float) -> dict[float, Estimate]:
    """Return by how much each other multiple is behind the best, as negative numbers."""
    losses = {}
    for multiple in sorted(accuracies):
        if multiple != best:
            losses[multiple] = Estimate.of(accuracies[multiple] - accuracies[best])
    return losses


def _within(losses: dict[float, Estimate], best: float, claim: BetaClaim) -> dict[float, Estimate]:
    """Return the multiples in the claimed range around the best."""
    within = {}
    for multiple, loss in losses.items():
        if claim.low <= multiple / best <= claim.high:
            within[multiple] = loss
    return within


def _neighbours(
    losses: dict[float, Estimate], best: float, claim: BetaClaim
) -> dict[float, Estimate]:
    """Return the next multiple on either side of the claimed range, if both sides have one."""
    below = [multiple for multiple in losses if multiple / best < claim.low]
    above = [multiple for multiple in losses if multiple / best > claim.high]
    if not below or not above:
        return {}
    return {below[-1]: losses[below[-1]], above[0]: losses[above[0]]}


def _verdict(*, holds: bool, beyond: bool) -> str:
    if beyond:
        return "The claim holds even beyond that range."
    if holds:
        return "The claim holds where it was tried."
    return "A miss: the claim does not hold."


def figure(data: dict[str, Any]) -> bytes:
    """Draw the accuracy of single classifiers and of their average over multiples of beta."""
    shots = distinct(data["results"], "shot")[::-1]
    columns = max(1, len(shots))
    picture = Figure(figsize=(5.2 * columns, 3.9), layout="constrained")
    panels = picture.subplots(1, columns, squeeze=False)[0]
    for panel, shot in zip(panels, shots, strict=False):
        results = matching(data["results"], "shot", shot)
        results.sort(key=lambda result: result["multiple"])
        _draw_accuracies(panel, results)
        panel.set(
            xscale="log",
            xlabel="multiple of the preset's beta",
            ylabel="accuracy, %",
            title=f"Choice of beta, {shot}-shot ({data['scale']} scale)",
        )
        panel.legend(frameon=False, fontsize=8)
    return png(picture)


def _draw_accuracies(panel: Axes, results: Rows) -> None:
    multiples = column(results, "multiple")
    for distribution, color in (("prior", BLUE), ("posterior", VERMILION)):
        for kind, style in (("average", "-"), ("single", ":")):
            name = f"{distribution} {kind}"
            accuracies = [result["samples"][name] for result in results]
            panel.errorbar(
                multiples,
                column(accuracies, "mean", 100),
                [percent_interval(accuracy) for accuracy in accuracies],
                linestyle=style,
                color=color,
                label=f"{distribution}, {kind}",
                capsize=2,
            )


EXPERIMENT = Experiment(name="beta", cells=cells, table=table, figure=figure)
