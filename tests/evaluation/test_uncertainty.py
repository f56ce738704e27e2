"""AUROC and risk are those of another implementation and of cases computed by hand."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from samovar.evaluation.outcomes import OUTSIDE, Outcomes
from samovar.evaluation.uncertainty import auroc, risk_coverage, uncertainties
from samovar.prediction.predictive import Prediction, entropy_of


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=40))
@settings(max_examples=60)
def test_auroc_is_that_of_scikit_learn_ties_included(pairs):
    score, positive = np.array([p[0] for p in pairs], float), np.array([p[1] for p in pairs])
    found = auroc(score, positive, np.arange(len(pairs)))
    if positive.all() or not positive.any():
        assert found is None
    else:
        assert found.value == pytest.approx(roc_auc_score(positive, score))


def test_aurocs_interval_covers_the_long_run_value_where_queries_of_a_task_go_together():
    rng = np.random.default_rng(0)

    def tasks(count: int):
        shift = rng.normal(size=(count, 1))  # makes the queries of a task alike
        positive = rng.random((count, 20)) < 0.3
        score = rng.normal(size=(count, 20)) + positive + shift
        return score.ravel(), positive.ravel(), np.repeat(np.arange(count), 20)

    truth = auroc(*tasks(20_000)).value
    found = [auroc(*tasks(100)) for _ in range(400)]
    covered = np.mean([abs(area.value - truth) <= area.ci95 for area in found])
    assert 0.91 < covered < 0.98


def outcomes_of(
    probabilities: list, labels: list[int], distance: list[float] | None = None
) -> Outcomes:
    p, distances = (
        torch.tensor([probabilities]),
        None if distance is None else torch.tensor([distance]),
    )
    return Outcomes.of(Prediction(p, entropy_of(p), None, None), torch.tensor([labels]), distances)


def test_risk_and_uncertainty_by_hand():
    """Confident and right, less confident and wrong, least confident and right; one outside."""
    probabilities = [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.45, 0.55]]
    outcomes = outcomes_of(probabilities, [0, 1, 1, OUTSIDE], [0.1, 0.2, 0.6, 0.5])
    risk = risk_coverage(outcomes.inside)
    assert risk.risk[32] == 0
    assert risk.risk[66] == pytest.approx(1 / 2)
    assert risk.risk[99] == pytest.approx(1 / 3)
    assert risk.area == pytest.approx((0 + 1 / 2 + 1 / 3) / 3)
    found = uncertainties(outcomes)
    assert found.max_probability.mean == pytest.approx((0.9 + 0.8 + 0.6) / 3, rel=1e-6)
    assert found.max_probability.wrong_auroc.value == pytest.approx(
        1 / 2
    )  # above one of two right answers
    assert found.entropy.outside_auroc.value == pytest.approx(1.0)
    assert found.distance.mean == pytest.approx(0.3)
    assert found.distance.outside_auroc.value == pytest.approx(2 / 3)
    assert found.mutual_information is None
    assert uncertainties(outcomes_of(probabilities, [0, 1, 1, OUTSIDE])).distance is None


def test_without_wrong_or_outside_queries_there_is_no_auroc():
    found = uncertainties(outcomes_of([[0.9, 0.1], [0.2, 0.8]], [0, 1]))
    assert found.entropy.wrong_auroc is None
    assert found.entropy.outside_auroc is None


def test_one_task_has_an_auroc_without_an_interval():
    score, positive = np.array([0.1, 0.4, 0.3]), np.array([False, True, True])
    found = auroc(score, positive, np.zeros(3, np.int64))
    assert (found.value, found.ci95) == (1.0, None)
