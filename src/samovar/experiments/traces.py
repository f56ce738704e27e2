"""Figures that come from training: the collapse of the variance (appendix D), and the choice of beta."""

import json
from typing import Any

from samovar.experiments.cells import Cell, Scale
from samovar.experiments.reproduce import Workplace, state_of
from samovar.experiments.tables import COLLAPSED, CPU_LABEL, PUBLISHED_COLLAPSE, Written

CLAIM = {5: (0.83, 2.0), 1: (0.66, 2.0)}
"""The paper: within 1 % for these multiples of the best beta."""


def _training(cell: Cell, place: Workplace) -> dict[str, Any] | None:
    return json.loads(place.training(cell).read_bytes()) if state_of(cell, place) == "measured" else None


def collapse(scale: Scale, cells: list[Cell], place: Workplace) -> Written:
    """Largest variance of weights and biases every 250 steps, and the first step below 0.001."""
    found = []
    for cell in cells:
        training = _training(cell, place)
        if training is None:
            continue
        names = ("update", "largest_weight_variance", "largest_bias_variance")
        trace = [{name: line.get(name) for name in names} for line in training["trace"] if "nll" in line]
        below = [line["update"] for line in trace if line["largest_weight_variance"] < COLLAPSED]
        shot = cell.settings.episodes.shot
        published = PUBLISHED_COLLAPSE[shot] if cell.row == "versa" else None
        where = {"method": cell.row, "shot": shot, "first_below": below[0] if below else None, "published": published}
        found.append(where | {"trace": trace})
    lines = [f"# collapse ({scale} scale)", "", *([CPU_LABEL, ""] if scale == "cpu" else [])]
    lines += [f"First step at which the largest variance of the weights is below {COLLAPSED} (traced every 250):", ""]
    lines += ["| | ours | paper | largest variance at the end |", "|---|---|---|---|"]
    for each in found:
        first = "never" if each["first_below"] is None else str(each["first_below"])
        end = each["trace"][-1]["largest_weight_variance"]
        paper = "about " + str(each["published"]) if each["published"] else "does not collapse"
        lines.append(f"| {each['method']} {each['shot']}-shot | {first} | {paper} | {end:.2g} |")
    return Written({"format": 1, "name": "collapse", "scale": scale, "results": found}, "\n".join(lines) + "\n")


def beta(scale: Scale, cells: list[Cell], place: Workplace) -> Written:
    """Accuracy of single classifiers and of their average over multiples of beta, from prior and posterior."""
    found = []
    for cell in cells:
        training = _training(cell, place)
        if training is not None and training["samples"] is not None:
            where = {"multiple": float(cell.row), "shot": cell.settings.episodes.shot}
            found.append(where | {"samples": training["samples"]})
    names = ("prior single", "prior average", "posterior single", "posterior average")
    lines = [f"# beta ({scale} scale)", "", *([CPU_LABEL, ""] if scale == "cpu" else [])]
    lines += [
        "Accuracy in percent. Same training tasks for every beta; 1 weighs mean NLL and mean KL equally. The posterior "
        "has seen the labels of the queries it is asked about: it is no predictor.",
        "",
        "| shot | beta | " + " | ".join(names) + " |",
        "|---" * (2 + len(names)) + "|",
    ]
    for each in found:
        figures = (each["samples"][name] for name in names)
        cells_text = " | ".join(f"{100 * f['mean']:.2f} ± {100 * f['ci95']:.2f}" for f in figures)
        lines.append(f"| {each['shot']} | x {each['multiple']:g} | {cells_text} |")
    for shot, (low, high) in CLAIM.items():
        values = {e["multiple"]: e["samples"]["prior average"]["mean"] for e in found if e["shot"] == shot}
        inside = [value for multiple, value in values.items() if low <= multiple <= high]
        if len(inside) > 1:
            spread = 100 * (max(inside) - min(inside))
            holds = "holds" if spread <= 1 else "does not hold"
            lines += [
                "",
                f"Claim ({shot}-shot): from {low} to {high} within 1 %. Ours: {spread:.2f} points, so it {holds}.",
            ]
    return Written({"format": 1, "name": "beta", "scale": scale, "results": found}, "\n".join(lines) + "\n")
