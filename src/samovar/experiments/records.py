"""The files that are kept of a cell, as typed values: only what tables and figures need.

The keys are those that `samovar.evaluation` and `measuring.py` write.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from samovar.errors import UnreadableError
from samovar.evaluation.metrics import Estimate, ReliabilityBin, reliability_gap
from samovar.evaluation.seeds import SeedMeans
from samovar.settings.checked import checked

REPORTED = {("plain", 1), ("plain", 1000), ("plain", 10_000), ("quasi", 1)}
"""Kinds and numbers of samples that the table and the figure need of every study."""


@dataclass(frozen=True)
class _Mean:
    """A metric that is a mean over tasks."""

    mean: float


@dataclass(frozen=True)
class _Value:
    """A metric of all tasks at once."""

    value: float


@dataclass(frozen=True)
class _StoredMetrics:
    """A part of evaluation.json."""

    accuracy: Estimate
    nll: _Mean
    ece: _Value
    reliability: list[ReliabilityBin]


@dataclass(frozen=True)
class PredictorMetrics:
    """The metrics of one predictor in a stored evaluation."""

    accuracy: Estimate
    nll: float
    ece: float
    """The calibration error of all queries, pooled."""
    gap: float
    """The mean top probability minus the accuracy: above zero the answers are too sure."""

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "PredictorMetrics":
        """Return the metrics in a part of evaluation.json."""
        part = checked(_StoredMetrics, stored)
        # Early files have no gap, but all have the bins that it is computed from.
        gap = reliability_gap(part.reliability)
        return cls(part.accuracy, part.nll.mean, part.ece.value, gap)


@dataclass(frozen=True)
class SeedMetrics:
    """The metrics of one predictor over training seeds."""

    accuracy: SeedMeans
    nll: SeedMeans
    ece: SeedMeans
    gap: SeedMeans

    @classmethod
    def of(cls, seeds: list[PredictorMetrics]) -> "SeedMetrics":
        """Summarise the metrics of each training seed."""
        return cls(
            accuracy=SeedMeans.of([metrics.accuracy.mean for metrics in seeds]),
            nll=SeedMeans.of([metrics.nll for metrics in seeds]),
            ece=SeedMeans.of([metrics.ece for metrics in seeds]),
            gap=SeedMeans.of([metrics.gap for metrics in seeds]),
        )


@dataclass(frozen=True)
class _Protocol:
    """The protocol of an evaluation in words."""

    text: str


@dataclass(frozen=True)
class _StoredParts:
    """What else is needed of evaluation.json."""

    protocol: _Protocol
    mean_classifier: dict[str, Any]
    predictive_tempered: dict[str, Any] | None = None


@dataclass(frozen=True)
class CellSummary:
    """A stored evaluation of a cell."""

    protocol: str
    """The protocol in words."""
    sampled: PredictorMetrics
    """Of the average over sampled classifiers."""
    at_mean: PredictorMetrics
    """Of the classifier at the mean."""
    tempered: PredictorMetrics | None
    """With a temperature fitted on validation tasks; measured of deterministic models only."""

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "CellSummary":
        """Return the summary that evaluation.json holds."""
        # The sampled predictor is at the top level of the file, the others are nested in it.
        sampled = PredictorMetrics.from_json(stored)
        parts = checked(_StoredParts, stored)
        at_mean = PredictorMetrics.from_json(parts.mean_classifier)
        tempered = None
        if parts.predictive_tempered is not None:
            tempered = PredictorMetrics.from_json(parts.predictive_tempered)
        return cls(parts.protocol.text, sampled, at_mean, tempered)


@dataclass(frozen=True)
class VariancePoint:
    """The largest predicted variances at one update of the training."""

    update: int
    largest_weight_variance: float
    largest_bias_variance: float | None = None


@dataclass(frozen=True)
class SampledAccuracies:
    """Accuracies of single sampled classifiers and of their average, from prior and posterior."""

    tasks: int
    accuracies: dict[str, Estimate]
    """By "prior single", "prior average", "posterior single" and "posterior average"."""

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "SampledAccuracies":
        """Return the accuracies that training.json holds."""
        accuracies = dict(stored)
        # The number of tasks is stored among the accuracies.
        tasks = checked(int, accuracies.pop("tasks", None))
        return cls(tasks, checked(dict[str, Estimate], accuracies))

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
    best_validation: float | None
    """The highest accuracy on the validation tasks: that of the model that was kept."""

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "TrainingTrace":
        """Return the record that training.json holds."""
        record = checked(_StoredTraining, stored)
        variances = []
        validations = []
        for line in record.trace:
            if "validation_accuracy" in line:
                validations.append(checked(float, line["validation_accuracy"]))
            # Lines without an NLL are validations.
            if "nll" in line and "largest_weight_variance" in line:
                variances.append(checked(VariancePoint, line))
        samples = None
        if record.samples is not None:
            samples = SampledAccuracies.from_json(record.samples)
        return cls(variances, samples, max(validations, default=None))


@dataclass(frozen=True)
class _StoredTraining:
    """The content of training.json."""

    trace: list[dict[str, Any]]
    samples: dict[str, Any] | None


@dataclass(frozen=True)
class _AtMean:
    """What a study says of the classifier at the mean."""

    accuracy: float


@dataclass(frozen=True)
class _StudyRow:
    """What a study says of one number of samples."""

    kind: Literal["plain", "quasi"]
    samples: Annotated[int, msgspec.Meta(ge=1)]
    accuracy: Annotated[list[float], msgspec.Meta(min_length=1)]
    gain: Estimate
    error: float


@dataclass(frozen=True)
class _StoredStudy:
    """The content of sampling.json."""

    protocol: dict[str, Any]
    mean_classifier: _AtMean
    results: list[_StudyRow]
    quasi_equal_to_1000: int | None
    repeats: int


def checked_study(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the content of sampling.json as it is, if figures can be drawn of it."""
    study = checked(_StoredStudy, stored)
    samples = set()
    for row in study.results:
        if len(row.accuracy) != study.repeats:
            raise UnreadableError("its results do not have as many repeats as it says")
        samples.add((row.kind, row.samples))
    missing = REPORTED - samples
    if missing:
        raise UnreadableError(f"it has no results for {min(missing)[1]} random samples")
    return stored
