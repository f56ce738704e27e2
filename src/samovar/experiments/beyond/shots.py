"""The models of Table 1 at shots they were not trained on: accuracy, NLL, ECE and gap."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from samovar.evaluation.seeds import SeedMeans
from samovar.experiments.evidence import Evidence
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.figures import (
    Rows,
    column,
    distinct,
    matching,
    method_color,
    method_marker,
)
from samovar.experiments.markdown import SEEDS_NOTE, SIGN_NOTE, calibration, grid, heading, joined
from samovar.experiments.shared_cells import table1_cells
from samovar.reporting.figures.style import png


def table(measurements: Measurements) -> ResultTable:
    """Return accuracy, NLL and ECE of every model at every shot."""
    results: Rows = []
    for evidence in measurements.measured:
        results += _results(evidence)
    models = _by_model(results)
    shots = distinct(results, "shot")
    texts = {}
    for model, members in models.items():
        for shot in shots:
            texts[model, f"{shot}-shot"] = _text(matching(members, "shot", shot))
    lines = heading("shots", "cpu", measurements.cells)
    lines += [
        "Accuracy in percent / NLL / ECE by the number of shots at test, mean over training seeds.",
        f"{SIGN_NOTE} {SEEDS_NOTE}",
        "",
    ]
    lines += grid(list(models), [f"{shot}-shot" for shot in shots], texts)
    data = {"format": 1, "name": "shots", "scale": "cpu", "results": results}
    return ResultTable(data, joined(lines))


def _results(evidence: Evidence) -> Rows:
    results = []
    for protocol in sorted(evidence.cell.protocols, key=lambda protocol: protocol.shot):
        metrics = evidence.summary(protocol).sampled
        results.append(
            {
                "row": evidence.cell.row,
                "trained": evidence.cell.column,
                "seed": evidence.cell.settings.seed,
                "shot": protocol.shot,
                "accuracy": metrics.accuracy.mean,
                "nll": metrics.nll,
                "ece": metrics.ece,
                "gap": metrics.gap,
            }
        )
    return results


def _by_model(results: Rows) -> dict[str, Rows]:
    """Return the results of each method and training shot, over all seeds."""
    models: dict[str, Rows] = {}
    for result in results:
        name = f"{result['row']}, trained on {result['trained']}"
        models.setdefault(name, []).append(result)
    return models


def _text(seeds: Rows) -> str:
    accuracy = np.mean(column(seeds, "accuracy"))
    nll = np.mean(column(seeds, "nll"))
    ece = SeedMeans.of(column(seeds, "ece"))
    gap = float(np.mean(column(seeds, "gap")))
    return f"{100 * accuracy:.1f} / {nll:.3f} / {calibration(ece.mean, gap, ece.ci95)}"


def figure(data: dict[str, Any]) -> bytes:
    """Draw the metrics over the shots at test; solid if trained on 5-shot tasks, else dotted."""
    picture = Figure(figsize=(15, 3.9), layout="constrained")
    accuracy, nll, ece, gap = picture.subplots(1, 4)
    results = data["results"]
    _draw_metric(accuracy, results, "accuracy", "accuracy, %")
    _draw_metric(nll, results, "nll", "NLL")
    _draw_metric(ece, results, "ece", "calibration error")
    gap.axhline(0, color="0.7", linewidth=1)
    _draw_metric(gap, results, "gap", "mean top probability - accuracy")
    handles, labels = accuracy.get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    picture.suptitle(f"Other shots than trained on ({data['scale']} scale)")
    return png(picture)


def _draw_metric(panel: Axes, results: Rows, key: str, label: str) -> None:
    for members in _by_model(results).values():
        _draw_model(panel, members, key)
    shots = distinct(results, "shot")
    panel.set_xscale("log")
    panel.set_xticks(shots, [str(shot) for shot in shots])
    panel.minorticks_off()
    panel.set(xlabel="shots at test", ylabel=label)


def _draw_model(panel: Axes, members: Rows, key: str) -> None:
    """Draw the mean over training seeds; the bars span them."""
    # Accuracies are drawn in percent, all other metrics as they are.
    unit = 100 if key == "accuracy" else 1
    shots = distinct(members, "shot")
    means = []
    half_ranges = []
    for shot in shots:
        values = column(matching(members, "shot", shot), key, unit)
        means.append(np.mean(values))
        half_ranges.append(np.ptp(values) / 2)
    method = members[0]["row"]
    trained = members[0]["trained"]
    panel.errorbar(
        shots,
        means,
        half_ranges,
        linestyle="-" if trained == "5-shot" else ":",
        color=method_color(method),
        marker=method_marker(method),
        markersize=4,
        label=f"{method}, {trained}",
    )


EXPERIMENT = Experiment(
    name="shots", cells=table1_cells, table=table, figure=figure, beyond_paper=True
)
