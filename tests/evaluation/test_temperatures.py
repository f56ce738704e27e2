"""A fitted temperature changes no answer and lowers the NLL where it was fitted."""

import torch
from helpers_evaluation import random_prediction

from samovar.evaluation.evaluator import Evaluator, training_dataset
from samovar.evaluation.metrics import TaskMetrics
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.temperatures import Temperatures, fit_temperatures
from samovar.settings.tasks import Protocol


def test_temperatures_lower_the_nll_of_the_tasks_they_were_fitted_on(trained):
    protocol = Protocol(3, 2, 4, episodes=45, samples=20, split="val")
    runner = Evaluator(trained, training_dataset(trained, "val")).runner(protocol)
    temperatures = fit_temperatures(runner, protocol)
    assert list(temperatures.values) == [Predictor.PREDICTIVE, Predictor.MEAN_CLASSIFIER]
    assert temperatures.note == "fitted on 45 tasks of toy (val, 7 classes)"
    outcomes = runner.outcomes(protocol, temperatures.predictions)
    for predictor in temperatures.values:
        plain = TaskMetrics.of(outcomes[predictor])
        tempered = TaskMetrics.of(outcomes[predictor.tempered])
        assert tempered.nll.mean() <= plain.nll.mean() + 1e-6
        assert (tempered.accuracy == plain.accuracy).all()


def test_predictions_are_named_and_only_the_tempered_ones_have_a_temperature():
    sampled, at_mean = random_prediction(seed=0), random_prediction(seed=1)
    temperatures = Temperatures({Predictor.MEAN_CLASSIFIER: 2.0}, "by hand")
    predictions = temperatures.predictions(sampled, at_mean)
    expected = ["predictive", "mean_classifier", "mean_classifier_tempered"]
    assert list(predictions) == expected
    assert predictions["predictive"] is sampled
    assert temperatures.of(Predictor.MEAN_CLASSIFIER_TEMPERED) == 2.0
    assert temperatures.of(Predictor.MEAN_CLASSIFIER) is None
    torch.testing.assert_close(
        predictions["mean_classifier_tempered"].probabilities,
        at_mean.probabilities.sqrt() / at_mean.probabilities.sqrt().sum(-1, keepdim=True),
    )
