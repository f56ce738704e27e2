"""How well an uncertainty finds what should be doubted: AUROC with its interval, risk against coverage."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from samovar.evaluation.outcomes import OUTSIDE, Outcomes

COVERAGE = np.arange(1, 101) / 100


def auroc(
    score: NDArray[np.floating], positive: NDArray[np.bool_], task: NDArray[np.int64]
) -> dict[str, float] | None:
    """The chance that a positive scores above a negative (half of it where they are level); None if either is absent.

    All arrays are flat. The 95 % interval is over tasks: by the influence of each query on the figure, summed over the
    queries of a task.
    """
    high, low = np.sort(score[positive]), np.sort(score[~positive])
    if not len(high) or not len(low):
        return None
    placement = np.empty(len(score))  # of each query among those of the other kind
    placement[positive] = _share_below(low, score[positive])
    placement[~positive] = 1 - _share_below(high, score[~positive])
    value = placement[positive].mean()
    influence = (placement - value) / np.where(positive, len(high), len(low))
    per_task = np.bincount(task, influence)
    return {"value": float(value), "ci95": float(1.96 * np.sqrt(np.square(per_task).sum()))}


def _share_below(
    ordered: NDArray[np.floating], values: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Share of `ordered` below each value, those that equal it counted half."""
    both = (np.searchsorted(ordered, values, side).astype(np.float64) for side in ("left", "right"))
    return np.asarray(sum(both)) / (2 * len(ordered))


def uncertainties(answers: Outcomes) -> dict[str, Any]:
    """Of each measure: its mean over queries, and its AUROC for wrong answers and for queries from outside the task.

    None where there is nothing to find, or where the model has no such measure.
    """
    task = np.broadcast_to(np.arange(len(answers.label))[:, None], answers.label.shape)
    outside = answers.label == OUTSIDE
    wrong = ~outside & ~answers.right
    result: dict[str, Any] = {}
    for name, measure in (
        ("max_probability", -answers.top),
        ("entropy", answers.entropy),
        ("mutual_information", answers.mutual_information),
        ("distance", answers.distance),
    ):
        if measure is None:
            result[name] = None
            continue
        sign = -1.0 if name == "max_probability" else 1.0
        result[name] = {
            "mean": float(sign * measure[~outside].mean(dtype=np.float64)),
            "wrong_auroc": auroc(measure[~outside], wrong[~outside], task[~outside]),
            "outside_auroc": auroc(measure.ravel(), outside.ravel(), task.ravel()),
        }
    return result


def risk_coverage(answers: Outcomes) -> dict[str, Any]:
    """Error rate among the answers with the highest top probability, at each share of the queries that is answered.

    `area` is its mean over all coverages. Queries from outside the task count as wrong answers.
    """
    order = np.argsort(-answers.top.ravel(), kind="stable")
    wrong = ~answers.right.ravel()[order]
    risk = np.cumsum(wrong) / np.arange(1, len(wrong) + 1)
    at = np.maximum(1, np.round(COVERAGE * len(wrong)).astype(np.int64)) - 1
    return {"coverage": COVERAGE.tolist(), "risk": risk[at].tolist(), "area": float(risk.mean())}
