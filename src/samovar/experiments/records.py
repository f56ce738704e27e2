"""The files that are kept of a cell, as typed values: only what tables and figures need.

The keys are those that `samovar.evaluation` and `measuring.py` write.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from samovar.evaluation.metrics import Estimate


@dataclass(frozen=True)
class PredictorMetrics:
    """The metrics of one predictor in a stored evaluation."""

    accuracy: Estimate
    nll: float
    ece: float

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "PredictorMetrics":
        """Return the metrics in a part of evaluation.json."""
        accuracy = Estimate(stored["accuracy"]["mean"], stored["accuracy"]["ci95"])
        return cls(accuracy, stored["nll"]["mean"], stored["ece"]["value"])


def averaged(seeds: list[PredictorMetrics]) -> tuple[float, float, float]:
    """Return the means of accuracy, NLL and ECE over training seeds."""
    accuracies = []
    nlls = []
    eces = []
    for metrics in seeds:
        accuracies.append(metrics.accuracy.mean)
        nlls.append(metrics.nll)
        eces.append(metrics.ece)
    return float(np.mean(accuracies)), float(np.mean(nlls)), float(np.mean(eces))


@dataclass(frozen=True)
class CellSummary:
    """A stored evaluation of a cell."""

    protocol: str
    """The protocol in words."""
    sampled: PredictorMetrics
    """Of the average over sampled classifiers."""
    at_mean: PredictorMetrics
    """Of the classifier at the mean."""

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "CellSummary":
        """Return the summary that evaluation.json holds."""
        # The sampled predictor is at the top level of the file, the others are nested in it.
        sampled = PredictorMetrics.from_json(stored)
        at_mean = PredictorMetrics.from_json(stored["mean_classifier"])
        return cls(stored["protocol"]["text"], sampled, at_mean)


@dataclass(frozen=True)
class VariancePoint:
    """The largest predicted variances at one update of the training."""

    update: int
    largest_weight_variance: float
    largest_bias_variance: float | None


@dataclass(frozen=True)
class SampledAccuracies:
    """Accuracies of single sampled classifiers and of their average, from prior and posterior."""

    tasks: int
    accuracies: dict[str, Estimate]
    """By "prior single", "prior average", "posterior single" and "posterior average"."""

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "SampledAccuracies":
        """Return the accuracies that training.json holds."""
        accuracies = {}
        for name, value in stored.items():
            # The number of tasks is stored among the accuracies.
            if name != "tasks":
                accuracies[name] = Estimate(**value)
        return cls(stored["tasks"], accuracies)

    def to_json(self) -> dict[str, Any]:
        """Return the content of a JSON file."""
        content: dict[str, Any] = {}
        for name, accuracy in self.accuracies.items():
            content[name] = accuracy.to_json()
        return content | {"tasks": self.tasks}


@dataclass(frozen=True)
class TrainingTrace:
    """What is kept of a cell's training."""

    variances: list[VariancePoint]
    samples: SampledAccuracies | None
    """None for deterministic models and with TEN."""

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "TrainingTrace":
        """Return the record that training.json holds."""
        variances = []
        for line in stored["trace"]:
            # Lines without an NLL are validations.
            if "nll" in line and "largest_weight_variance" in line:
                weight = line["largest_weight_variance"]
                bias = line.get("largest_bias_variance")
                variances.append(VariancePoint(line["update"], weight, bias))
        samples = None
        if stored["samples"] is not None:
            samples = SampledAccuracies.from_json(stored["samples"])
        return cls(variances, samples)
