"""The sampling study finds errors that fall with the number of samples."""

import numpy as np
import pytest
import torch

from samovar.evaluation.evaluator import Evaluator, training_dataset
from samovar.evaluation.sampling_study import FIRST_SEED, Ladder, sampling_study
from samovar.prediction.predictive import predict_by_whole_weights
from samovar.settings.tasks import Protocol

SMALL = Protocol(3, 2, 4, episodes=45, samples=20)


def test_the_sampling_study_finds_errors_that_fall_with_the_number_of_samples(trained):
    evaluator = Evaluator(trained, training_dataset(trained, "test")).runner(SMALL)
    study = sampling_study(
        evaluator, SMALL, Ladder(plain=(1, 10, 100, 1000), quasi=(16, 128), repeats=4)
    )
    errors = {(row["kind"], row["samples"]): row["error"] for row in study["results"]}
    assert errors["plain", 1] > 2 * errors["plain", 10] > 4 * errors["plain", 100]
    assert errors["quasi", 128] < errors["plain", 100]
    assert all(len(row["accuracy"]) == 4 for row in study["results"])
    enough = [count for count in (16, 128) if errors["quasi", count] <= errors["plain", 1000]]
    assert study["quasi_equal_to_1000"] == (min(enough) if enough else None)
    at_mean = study["mean_classifier"]["accuracy"]
    for row in study["results"]:
        assert row["gain"]["mean"] == pytest.approx(np.mean(row["accuracy"]) - at_mean, abs=1e-6)


def test_the_study_has_the_accuracies_of_whole_classifiers_under_the_seeds_of_its_repeats(trained):
    runner = Evaluator(trained, training_dataset(trained, "test")).runner(SMALL)
    study = sampling_study(runner, SMALL, Ladder(plain=(4,), quasi=(8,), repeats=2))
    evaluation = Evaluator(trained, training_dataset(trained, "test")).evaluate(
        SMALL, temperature=False
    )
    at_mean = evaluation.summary["mean_classifier"]["accuracy"]["mean"]
    assert study["mean_classifier"]["accuracy"] == pytest.approx(at_mean)
    for row in study["results"]:
        for repeat, accuracy in enumerate(row["accuracy"]):
            correct = []
            for tasks in runner.infer_tasks(SMALL):
                noise = tasks.noise(FIRST_SEED + repeat, quasi=row["kind"] == "quasi")
                prediction = predict_by_whole_weights(
                    runner.model.classifier, tasks.prior, tasks.query, row["samples"], noise
                )
                correct.append(prediction.probabilities.argmax(-1) == tasks.labels)
            assert accuracy == pytest.approx(torch.cat(correct).double().mean().item())
