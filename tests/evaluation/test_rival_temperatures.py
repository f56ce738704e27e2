"""Temperatures of rivals lower the NLL of the tasks they were fitted on, and change no answer."""

import numpy as np
import pytest
from helpers import features_model
from helpers_evaluation import vector_dataset
from helpers_photos import LENGTH, small_regression

from samovar.evaluation.evaluator import evaluator_for
from samovar.evaluation.metrics import TaskMetrics
from samovar.evaluation.predictors import RIVALS
from samovar.evaluation.rival_temperatures import fit_rivals
from samovar.settings.tasks import Protocol

PROTOCOL = Protocol(3, 2, 4, episodes=25, samples=8, split="val")


@pytest.mark.parametrize("make", [small_regression, lambda: features_model(LENGTH)])
def test_temperatures_are_fitted_for_both_kinds_of_models(make, tmp_path):
    runner = evaluator_for(make(), vector_dataset(tmp_path)).runner(PROTOCOL)
    fitted = fit_rivals(runner, PROTOCOL)
    assert set(fitted.temperatures) == set(RIVALS)
    assert fitted.note == "fitted on 25 tasks of clouds (val, 4 classes)"
    outcomes = runner.outcomes(PROTOCOL, rivals=fitted)
    for rival in RIVALS:
        plain, tempered = (TaskMetrics.of(outcomes[name]) for name in (rival, rival.tempered))
        assert tempered.nll.mean() <= plain.nll.mean() + 1e-6
        np.testing.assert_array_equal(plain.accuracy, tempered.accuracy)
