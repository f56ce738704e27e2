"""Pictures of evaluations; every function returns the bytes of a PNG.

`sampling_figure` takes studies as sampling.json stores them, since most of them are read from
files; the other functions take the typed results of evaluations.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from samovar.evaluation.metrics import Estimate, ReliabilityBin
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.results import EvaluationResults, Metrics
from samovar.reporting.figures.style import (
    BLACK,
    BLUE,
    DARK_GREEN,
    GREEN,
    ORANGE,
    PURPLE,
    SKY_BLUE,
    VERMILION,
    png,
)

COLORS = {
    Predictor.PREDICTIVE: BLUE,
    Predictor.MEAN_CLASSIFIER: VERMILION,
    Predictor.PREDICTIVE_TEMPERED: BLUE,
    Predictor.MEAN_CLASSIFIER_TEMPERED: VERMILION,
    Predictor.CALIBRATED: DARK_GREEN,
    Predictor.LOGISTIC_REGRESSION: GREEN,
    Predictor.LOGISTIC_REGRESSION_TEMPERED: GREEN,
    Predictor.PROTOTYPES: PURPLE,
    Predictor.PROTOTYPES_TEMPERED: PURPLE,
    Predictor.DISCRIMINANT_ANALYSIS: ORANGE,
    Predictor.DISCRIMINANT_ANALYSIS_TEMPERED: ORANGE,
    Predictor.NEAREST_CENTROID: SKY_BLUE,
    Predictor.NEAREST_CENTROID_TEMPERED: SKY_BLUE,
}
"""A temperature does not change the colour: tempered lines are dotted."""


def reliability_figure(results: EvaluationResults) -> bytes:
    """Draw accuracy over the top probability, and how many queries have it."""
    return _reliability(results.metrics)


def rivals_figure(results: EvaluationResults) -> bytes:
    """Draw the reliability of the model's predictive beside that of every rival."""
    assert results.rivals is not None  # there is no such picture without them
    shown = {}
    for predictor, metrics in results.metrics.items():
        if predictor.untempered in (Predictor.PREDICTIVE, Predictor.CALIBRATED):
            shown[predictor] = metrics
    return _reliability(shown | results.rivals.metrics)


def _reliability(shown: dict[Predictor, Metrics]) -> bytes:
    """Draw a column for each predictor; its tempered form is dotted in the same column."""
    predictors = [predictor for predictor in shown if not predictor.is_tempered]
    figure = Figure(figsize=(4.2 * len(predictors) + 0.4, 4.6), layout="constrained")
    panels = figure.subplots(2, len(predictors), sharex=True, squeeze=False, height_ratios=[3, 1])
    for predictor, (upper, lower) in zip(predictors, panels.T, strict=True):
        metrics = shown[predictor]
        color = COLORS[predictor]
        upper.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        _plot_bins(
            upper, metrics.reliability, color=color, marker="o", markersize=4, label="as it is"
        )
        if predictor.tempered != predictor and predictor.tempered in shown:
            _plot_tempered(upper, shown[predictor.tempered])
        title = f"{predictor.label}\n{_calibration(metrics)}"
        upper.set(title=title, ylim=(0, 1.02), xlim=(0, 1.02))
        upper.legend(frameon=False, fontsize=8, loc="upper left")
        for row in metrics.reliability:
            lower.bar(row.confidence, row.queries, width=0.05, color=color, alpha=0.6)
        lower.set(xlabel="top probability", yticks=[])
    panels[0, 0].set_ylabel("accuracy")
    panels[1, 0].set_ylabel("queries")
    return png(figure)


def _plot_bins(panel: Axes, bins: list[ReliabilityBin], **style: Any) -> None:
    panel.plot([row.confidence for row in bins], [row.accuracy for row in bins], **style)


def _plot_tempered(panel: Axes, metrics: Metrics) -> None:
    label = f"temperature {metrics.temperature:.2f}\n{_calibration(metrics)}"
    _plot_bins(panel, metrics.reliability, color="0.35", linestyle=":", label=label)


def _calibration(metrics: Metrics) -> str:
    return f"ECE {metrics.ece.value:.3f}, gap {metrics.gap.mean:+.3f}"


def risk_coverage_figure(results: EvaluationResults) -> bytes:
    """Draw the error rate among the most confident answers, over how many are answered."""
    figure = Figure(figsize=(5.2, 3.8), layout="constrained")
    panel = figure.subplots()
    for predictor, metrics in results.metrics.items():
        line = "-"
        if predictor.is_tempered:
            line = ":"
        panel.plot(
            metrics.risk_coverage.coverage,
            100 * np.array(metrics.risk_coverage.risk),
            color=COLORS[predictor],
            linestyle=line,
            label=predictor.label,
        )
    panel.set(xlabel="share of the queries answered", ylabel="wrong answers, %")
    panel.set_xlim(0, 1)
    panel.set_ylim(bottom=0)
    panel.legend(frameon=False, fontsize=8)
    return png(figure)


def shots_figure(evaluations: Sequence[EvaluationResults]) -> bytes:
    """Draw the accuracy over shots, with a line for each number of classes (way)."""
    figure = Figure(figsize=(5.2, 3.8), layout="constrained")
    panel = figure.subplots()
    by_shot = sorted(evaluations, key=lambda results: results.protocol.shot)
    for way in sorted({results.protocol.way for results in evaluations}):
        shots = []
        means = []
        intervals = []
        for results in by_shot:
            if results.protocol.way == way:
                shots.append(results.protocol.shot)
                means.append(100 * results.predictive.accuracy.mean)
                intervals.append(_interval(results.predictive.accuracy))
        panel.errorbar(shots, means, intervals, marker="o", capsize=2.5, label=f"{way}-way")
    # The logarithmic axis is labelled with the shots that were measured, not with powers of ten.
    ticks = sorted({results.protocol.shot for results in evaluations})
    panel.set_xscale("log")
    panel.set_xticks(ticks, [str(shot) for shot in ticks])
    panel.minorticks_off()
    panel.set(xlabel="support images of each class", ylabel="accuracy, %")
    panel.legend(frameon=False, fontsize=8)
    return png(figure)


def _interval(accuracy: Estimate) -> float:
    """Return the half-width in percent; NaN, which draws no bar, for a single task."""
    if accuracy.ci95 is None:
        return math.nan
    return 100 * accuracy.ci95


def sampling_figure(*studies: dict[str, Any]) -> bytes:
    """Draw accuracy and error over the number of sampled classifiers, a row for each study."""
    figure = Figure(figsize=(10, 3.8 * len(studies)), layout="constrained")
    panels = figure.subplots(len(studies), 2, squeeze=False)
    for study, (left, right) in zip(studies, panels, strict=True):
        _draw_accuracy(left, study)
        _draw_error(right, study)
    return png(figure)


SAMPLE_KINDS = (
    ("plain", "random", VERMILION, "s"),
    ("quasi", "quasi-random", BLUE, "o"),
)
"""The name of each kind of samples in sampling.json, its label, colour and marker."""


def _column(study: dict[str, Any], kind: str, name: str) -> NDArray[Any]:
    """Return a column of the study's table, of random ("plain") or quasi-random samples."""
    return np.array([row[name] for row in study["results"] if row["kind"] == kind])


def _draw_accuracy(panel: Axes, study: dict[str, Any]) -> None:
    at_mean = 100 * study["mean_classifier"]["accuracy"]
    label_at_mean = Predictor.MEAN_CLASSIFIER.label
    panel.axhline(at_mean, color=BLACK, linestyle="--", linewidth=1, label=label_at_mean)
    for kind, label, color, marker in SAMPLE_KINDS:
        counts = _column(study, kind, "samples")
        accuracy = 100 * _column(study, kind, "accuracy")  # (counts, repeats)
        # A single repeat has no deviation, and no error bar.
        deviation = np.zeros(len(counts))
        if accuracy.shape[1] > 1:
            deviation = accuracy.std(1, ddof=1)
        panel.errorbar(
            counts,
            accuracy.mean(1),
            deviation,
            label=label,
            color=color,
            marker=marker,
            capsize=2.5,
        )
    title = f"{study['protocol']['way']}-way {study['protocol']['shot']}-shot"
    if "model" in study:
        title += f", {study['model']}"
    panel.set(title=title, xlabel="sampled classifiers", ylabel="accuracy, %", xscale="log")
    panel.legend(frameon=False, fontsize=8)


def _draw_error(panel: Axes, study: dict[str, Any]) -> None:
    for kind, label, color, marker in SAMPLE_KINDS:
        counts = _column(study, kind, "samples")
        errors = _column(study, kind, "error")
        panel.plot(counts, errors, label=label, color=color, marker=marker)
    equal = study["quasi_equal_to_1000"]
    if equal is not None:  # some number of quasi-random samples was as good as 1000 random ones
        panel.axvline(equal, color=BLUE, linewidth=0.8, linestyle=":")
        panel.text(
            equal * 0.9,
            0.03,
            f"{equal} quasi-random\n= 1000 random",
            transform=panel.get_xaxis_transform(),
            fontsize=8,
            ha="right",
        )
    panel.set(xlabel="sampled classifiers", ylabel="error of the probabilities (rms)")
    panel.set(xscale="log", yscale="log")
    panel.legend(frameon=False, fontsize=8)
