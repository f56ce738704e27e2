"""Compares two models, or two predictors of one model, on the same tasks.

Two statements are made, which should not be confused. The paired difference is about the given
models and tasks drawn from the evaluated classes. The difference over training seeds is about the
two methods; it needs at least two trained models of each.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samovar.errors import RunError
from samovar.evaluation.metrics import (
    MEAN_METRICS,
    Estimate,
    expected_calibration_error,
    percentile_interval,
    resampled_errors,
)
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.seeds import SeedComparison, compare_seeds
from samovar.evaluation.stored_evaluation import StoredEvaluation

FORMAT = 1
"""The version of comparison.json."""

Evaluated = StoredEvaluation | str | Path
"""An evaluation, or the evaluation folder, run or model that has one."""


@dataclass(frozen=True)
class CalibrationDifference:
    """The difference of two calibration errors, with the bounds of its 95 % interval.

    One task has no interval.
    """

    mean: float
    ci95: list[float] | None


@dataclass(frozen=True)
class Comparison:
    """First minus second, on the same tasks.

    first, second: the folders that were compared, one for each training seed; first_by, second_by:
    their predictors; paired: accuracy, nll and brier, the difference of the means over seeds, with
    its interval over tasks; paired_ece: the same of the calibration error, None where its bins were
    not kept; seeds: the metrics over training seeds.
    """

    protocol: dict[str, Any]
    data: str
    first: list[str]
    second: list[str]
    first_by: Predictor
    second_by: Predictor
    paired: dict[str, Estimate]
    paired_ece: CalibrationDifference | None
    seeds: dict[str, SeedComparison]

    def to_json(self) -> dict[str, Any]:
        """Return the content of comparison.json."""
        paired: dict[str, Any] = {name: asdict(value) for name, value in self.paired.items()}
        paired["ece"] = None
        if self.paired_ece is not None:
            paired["ece"] = asdict(self.paired_ece)
        return {
            "format": FORMAT,
            "protocol": self.protocol,
            "data": self.data,
            "first": self.first,
            "second": self.second,
            "paired": paired,
            "seeds": {name: asdict(value) for name, value in self.seeds.items()},
            "first_by": self.first_by.value,
            "second_by": self.second_by.value,
        }


def compare(
    first: Evaluated | Sequence[Evaluated],
    second: Evaluated | Sequence[Evaluated],
    *,
    first_by: Predictor | str = Predictor.PREDICTIVE,
    second_by: Predictor | str = Predictor.PREDICTIVE,
    seed: int = 0,
) -> Comparison:
    """Return the difference of two models, or of two methods, on the same tasks.

    Each side is a folder that `samovar evaluate` wrote, or a run or model that has one, or a list
    of them for several training seeds of one method; `first_by` and `second_by` say which of the
    stored predictors to compare. Evaluations that have been read already (`StoredEvaluation`) bring
    their predictor with them. `seed` is that of the bootstrap for the calibration error.

    `compare("runs/a", "runs/b").paired["accuracy"]` has the difference `mean` and its `ci95`.
    """
    ours = _read(first, first_by)
    theirs = _read(second, second_by)
    check_same([*ours, *theirs])
    _check_distinct(ours)
    _check_distinct(theirs)
    paired = {}
    seeds = {}
    for name in MEAN_METRICS:
        # Task by task: that both models found the same tasks hard cancels out.
        difference = _mean_over_seeds(ours, name) - _mean_over_seeds(theirs, name)
        paired[name] = Estimate.of(difference)
        seeds[name] = compare_seeds(_mean_of_each(ours, name), _mean_of_each(theirs, name))
    return Comparison(
        protocol=ours[0].protocol,
        data=ours[0].data.description,
        first=_folders(ours),
        second=_folders(theirs),
        first_by=ours[0].predictor,
        second_by=theirs[0].predictor,
        paired=paired,
        paired_ece=_calibration_difference(ours, theirs, seed),
        seeds=seeds,
    )


def _read(
    group: Evaluated | Sequence[Evaluated], predictor: Predictor | str
) -> list[StoredEvaluation]:
    if isinstance(group, Evaluated):
        group = [group]
    if not group:
        raise RunError("There is nothing to compare: each side needs at least one evaluation.")
    evaluations = []
    for evaluated in group:
        if isinstance(evaluated, StoredEvaluation):
            evaluations.append(evaluated)
        else:
            evaluations.append(StoredEvaluation.read(evaluated, predictor))
    return evaluations


def check_same(evaluations: list[StoredEvaluation]) -> None:
    """Refuse evaluations of different protocols or data, naming the differences."""
    first = evaluations[0]
    for other in evaluations[1:]:
        differences = _protocol_differences(first.protocol, other.protocol)
        if len(first.metrics["accuracy"]) != len(other.metrics["accuracy"]):
            differences.append("number of tasks")
        if not first.data.matches(other.data):
            differences.append(
                f"data or its split ({first.data.description} and {other.data.description})"
            )
        if differences:
            raise RunError(
                f"{first.folder} and {other.folder} were measured differently: "
                f"{', '.join(differences)}. Evaluate both with the same flags."
            )


def _protocol_differences(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    differences = []
    # The union of the keys: either side may be of a version that lacks one of them.
    for name in first | second:
        # The text only repeats the other fields.
        if name != "text" and first.get(name) != second.get(name):
            differences.append(f"{name} ({first.get(name)} and {second.get(name)})")
    return differences


def _check_distinct(group: list[StoredEvaluation]) -> None:
    # One model under two names would pass for two seeds and narrow the interval.
    folders = {evaluation.folder.resolve() for evaluation in group}
    if len(folders) < len(group):
        raise RunError(
            "The same evaluation is given twice as two training seeds. Give each one once."
        )


def _folders(group: list[StoredEvaluation]) -> list[str]:
    return [str(evaluation.folder) for evaluation in group]


def _mean_over_seeds(group: list[StoredEvaluation], metric: str) -> NDArray[np.float64]:
    """Return the metric of each task, as the mean over the models of a group: (tasks,)."""
    return np.mean([evaluation.metrics[metric] for evaluation in group], axis=0)


def _mean_of_each(group: list[StoredEvaluation], metric: str) -> list[float]:
    """Return the metric of each model of a group, as the mean over tasks."""
    return [float(evaluation.metrics[metric].mean()) for evaluation in group]


def _calibration_difference(
    first: list[StoredEvaluation], second: list[StoredEvaluation], seed: int
) -> CalibrationDifference | None:
    """Subtract the pooled calibration errors; None where the bins of a model were not kept."""
    first_bins = _bins(first)
    second_bins = _bins(second)
    if first_bins is None or second_bins is None:
        return None
    difference = _mean_error(first_bins) - _mean_error(second_bins)
    if len(first_bins[0]) < 2:
        return CalibrationDifference(difference, None)
    # The same seed resamples the same tasks for all models, so that this difference is paired too.
    resampled = _mean_resampled_errors(first_bins, seed) - _mean_resampled_errors(second_bins, seed)
    return CalibrationDifference(difference, percentile_interval(resampled))


def _bins(group: list[StoredEvaluation]) -> list[NDArray[np.float64]] | None:
    """Return the calibration bins of each model of a group, if all have them."""
    bins = []
    for evaluation in group:
        if evaluation.bins is None:
            return None
        bins.append(evaluation.bins)
    return bins


def _mean_resampled_errors(bins: list[NDArray[np.float64]], seed: int) -> NDArray[np.float64]:
    return np.mean([resampled_errors(model_bins, seed) for model_bins in bins], axis=0)


def _mean_error(bins: list[NDArray[np.float64]]) -> float:
    errors = [expected_calibration_error(model_bins.sum(0)) for model_bins in bins]
    return float(np.mean(errors))
