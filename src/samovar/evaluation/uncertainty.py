"""How well a measure of uncertainty finds the queries that one should doubt.

Queries to doubt are those that were classified wrongly, and those whose class is not in the task at
all.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samovar.evaluation.outcomes import OUTSIDE, Outcomes

COVERAGE = np.arange(1, 101) / 100
"""The shares of the queries at which the risk is reported."""


@dataclass(frozen=True)
class Auroc:
    """The area under the ROC curve, with the half-width of its 95 % interval over tasks.

    One task has no interval.
    """

    value: float
    ci95: float | None


@dataclass(frozen=True)
class UncertaintyMeasure:
    """The mean of a measure over the queries, and how well it finds those to doubt.

    wrong_auroc: for wrong predictions; outside_auroc: for queries from outside the task. None where
    there is nothing to find.
    """

    mean: float
    wrong_auroc: Auroc | None
    outside_auroc: Auroc | None


@dataclass(frozen=True)
class Uncertainty:
    """The measures of uncertainty of one predictor; None where the model does not have one."""

    max_probability: UncertaintyMeasure
    entropy: UncertaintyMeasure
    mutual_information: UncertaintyMeasure | None
    energy: UncertaintyMeasure | None
    distance: UncertaintyMeasure | None


@dataclass(frozen=True)
class RiskCoverage:
    """The error rate among the most confident predictions.

    coverage: the share of the queries that is answered, the most confident first; risk: the error
    rate among them; area: the mean risk over all coverages.
    """

    coverage: list[float]
    risk: list[float]
    area: float


def auroc(
    score: NDArray[np.floating], positive: NDArray[np.bool_], task: NDArray[np.int64]
) -> Auroc | None:
    """Return the chance that a positive scores above a negative, with ties counted half.

    None if there are no positives or no negatives. All arrays are flat. The 95 % interval is over
    tasks: the influence of each query on the AUROC is summed over the queries of a task.
    """
    high = np.sort(score[positive])
    low = np.sort(score[~positive])
    if not len(high) or not len(low):
        return None
    # The placement of a query is its AUROC against all queries of the other kind.
    placement = np.empty(len(score))
    placement[positive] = _share_below(low, score[positive])
    placement[~positive] = 1 - _share_below(high, score[~positive])
    value = placement[positive].mean()
    # The variance by influence functions (DeLong); queries of a task depend on each other, so their
    # influences are summed before they are squared.
    influence = (placement - value) / np.where(positive, len(high), len(low))
    per_task = np.bincount(task, influence)
    if len(np.unique(task)) < 2:
        return Auroc(float(value), None)
    return Auroc(float(value), float(1.96 * np.sqrt(np.square(per_task).sum())))


def _share_below(
    ordered: NDArray[np.floating], values: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Return the share of `ordered` that is below each value; equal ones count half."""
    below = np.searchsorted(ordered, values, "left").astype(np.float64)
    not_above = np.searchsorted(ordered, values, "right").astype(np.float64)
    return (below + not_above) / (2 * len(ordered))


def uncertainties(outcomes: Outcomes) -> Uncertainty:
    """Measure how well each kind of uncertainty finds the queries to doubt."""
    top = _measure(outcomes, -outcomes.top)  # a low top probability is a high uncertainty
    return Uncertainty(
        max_probability=UncertaintyMeasure(-top.mean, top.wrong_auroc, top.outside_auroc),
        entropy=_measure(outcomes, outcomes.entropy),
        mutual_information=_measure_if_known(outcomes, outcomes.mutual_information),
        energy=_measure_if_known(outcomes, outcomes.energy),
        distance=_measure_if_known(outcomes, outcomes.distance),
    )


def _measure_if_known(
    outcomes: Outcomes, score: NDArray[np.float32] | None
) -> UncertaintyMeasure | None:
    if score is None:
        return None
    return _measure(outcomes, score)


def _measure(outcomes: Outcomes, score: NDArray[np.float32]) -> UncertaintyMeasure:
    """Evaluate a score (tasks, queries) that is higher where the model is less certain."""
    task = np.broadcast_to(np.arange(len(score))[:, None], score.shape)
    outside = outcomes.label == OUTSIDE
    wrong = ~outcomes.correct
    return UncertaintyMeasure(
        mean=float(score[~outside].mean(dtype=np.float64)),
        wrong_auroc=auroc(score[~outside], wrong[~outside], task[~outside]),
        outside_auroc=auroc(score.ravel(), outside.ravel(), task.ravel()),
    )


def risk_coverage(outcomes: Outcomes) -> RiskCoverage:
    """Order all queries by top probability and return the error rate among the most confident ones.

    Queries from outside the task count as wrong predictions.
    """
    order = np.argsort(-outcomes.top.ravel(), kind="stable")
    wrong = ~outcomes.correct.ravel()[order]
    risk = np.cumsum(wrong) / np.arange(1, len(wrong) + 1)
    answered = np.maximum(1, np.round(COVERAGE * len(wrong)).astype(np.int64))
    return RiskCoverage(COVERAGE.tolist(), risk[answered - 1].tolist(), float(risk.mean()))
