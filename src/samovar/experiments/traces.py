"""Figures that come from training: the collapse of the variance (appendix D), and the choice of beta."""

import json
from typing import Any

from samovar.evaluation.metrics import mean_with_interval
from samovar.evaluation.stored_evaluation import StoredEvaluation
from samovar.experiments.cells import Cell, Scale
from samovar.experiments.reproduce import Workplace, state_of, stored_summary
from samovar.experiments.tables import Written, title

COLLAPSED = 0.001
PUBLISHED_COLLAPSE = {5: 4000, 1: 3000}
"""The step at which VERSA's largest weight variance is first below 0.001 in the paper's figure."""
CLAIM = {5: (0.83, 2.0), 1: (0.66, 2.0)}
"""The paper: within 1 % for these multiples of the best beta."""


def _training(cell: Cell, place: Workplace) -> dict[str, Any] | None:
    return (
        json.loads(place.training(cell).read_bytes())
        if state_of(cell, place) == "measured"
        else None
    )


def collapse(scale: Scale, cells: list[Cell], place: Workplace) -> Written:
    """Largest variance of weights and biases every 250 steps, and the first step below 0.001."""
    found = []
    for cell in cells:
        training = _training(cell, place)
        if training is None:
            continue
        names = ("update", "largest_weight_variance", "largest_bias_variance")
        trace = [
            {name: line.get(name) for name in names} for line in training["trace"] if "nll" in line
        ]
        below = [line["update"] for line in trace if line["largest_weight_variance"] < COLLAPSED]
        shot = cell.settings.episodes.shot
        published = PUBLISHED_COLLAPSE[shot] if cell.row == "versa" else None
        where = {
            "method": cell.row,
            "shot": shot,
            "first_below": below[0] if below else None,
            "published": published,
        }
        found.append(where | {"trace": trace})
    lines = title("collapse", scale, cells)
    lines += [
        f"First step at which the largest variance of the weights is below {COLLAPSED} (traced every 250):",
        "",
    ]
    lines += ["| | ours | paper | largest variance at the end |", "|---|---|---|---|"]
    for each in found:
        first = "never" if each["first_below"] is None else str(each["first_below"])
        end = each["trace"][-1]["largest_weight_variance"]
        paper = "about " + str(each["published"]) if each["published"] else "does not collapse"
        lines.append(f"| {each['method']} {each['shot']}-shot | {first} | {paper} | {end:.2g} |")
    return Written(
        {"format": 1, "name": "collapse", "scale": scale, "results": found}, "\n".join(lines) + "\n"
    )


def beta(scale: Scale, cells: list[Cell], place: Workplace) -> Written:
    """Accuracy of single classifiers and of their average over multiples of beta, from prior and posterior."""
    found: list[dict[str, Any]] = []
    for cell in cells:
        training = _training(cell, place)
        if training is not None and training["samples"] is not None:
            accuracy = StoredEvaluation.read(place.evidence(cell), "predictive").metrics["accuracy"]
            where = {"multiple": float(cell.row), "shot": cell.settings.episodes.shot}
            summary = stored_summary(cell, place)
            assert summary is not None
            figures = {"predictive": mean_with_interval(accuracy), "ece": summary["ece"]["value"]}
            found.append(where | {"samples": training["samples"]} | figures)
    names = ("prior single", "prior average", "posterior single", "posterior average")
    lines = title("beta", scale, cells)
    lines += [
        "Accuracy in percent. Same training tasks for every beta; 1 is the preset's (at cpu scale M / (N d), which "
        "weighs mean NLL and mean KL equally). `predictive` averages 1000 classifiers of the prior, `average` 100. The "
        "posterior has seen the labels of the queries it is asked about: it is no predictor.",
        "",
        "| shot | beta | predictive | its ECE | " + " | ".join(names) + " |",
        "|---" * (4 + len(names)) + "|",
    ]
    for each in found:
        predictive, *others = (
            f"{100 * figure['mean']:.2f} ± {100 * figure['ci95']:.2f}"
            for figure in (each["predictive"], *(each["samples"][name] for name in names))
        )
        begin = f"{each['shot']} | x {each['multiple']:g}"
        lines.append(f"| {begin} | {predictive} | {each['ece']:.3f} | {' | '.join(others)} |")
    claims = [_claim(shot, cells, place) for shot in CLAIM]
    lines += [line for claim in claims if claim is not None for line in ("", claim["text"])]
    data = {
        "format": 1,
        "name": "beta",
        "scale": scale,
        "results": found,
        "claims": [c for c in claims if c is not None],
    }
    return Written(data, "\n".join(lines) + "\n")


def _claim(shot: int, cells: list[Cell], place: Workplace) -> dict[str, Any] | None:
    """Whether betas around our best stay within a point of it, on the same tasks; None where no beta was tried."""
    members = [cell for cell in cells if cell.settings.episodes.shot == shot]
    if not members:
        return None
    low, high = CLAIM[shot]
    claim = f"The paper's claim ({shot}-shot): from {low} to {high} times the best beta, within 1 % of its accuracy. "
    measured = [cell for cell in members if state_of(cell, place) == "measured"]
    if len(measured) < len(members):
        return {
            "shot": shot,
            "holds": None,
            "text": f"{claim}Not decided: {len(measured)} of {len(members)} measured.",
        }
    accuracy = {
        float(c.row): StoredEvaluation.read(place.evidence(c), "predictive").metrics["accuracy"]
        for c in members
    }
    best = max(accuracy, key=lambda multiple: accuracy[multiple].mean())
    loss = {
        m: mean_with_interval(accuracy[m] - accuracy[best]) for m in sorted(accuracy) if m != best
    }
    near = {m: each for m, each in loss.items() if low <= m / best <= high}
    wider = (
        not near
    )  # then the next ones on either side, if they are good enough, say it of what is between
    if wider:
        below, above = [m for m in loss if m / best < low], [m for m in loss if m / best > high]
        near = {m: loss[m] for m in (*below[-1:], *above[:1]) if below and above}
    holds = all(each["mean"] > -0.01 for each in near.values())
    if not near or (wider and not holds):
        return {
            "shot": shot,
            "holds": None,
            "text": f"{claim}Not decided: no other beta of that range was tried.",
        }
    ours = ", ".join(
        f"x {m:g}: {100 * e['mean']:+.2f} ± {100 * e['ci95']:.2f}" for m, e in near.items()
    )
    verdict = (
        "it holds even beyond"
        if wider
        else "it holds where tried"
        if holds
        else "miss: it does not hold"
    )
    return {
        "shot": shot,
        "holds": holds,
        "text": f"{claim}Our best is x {best:g}; against it {ours}: {verdict}.",
    }
