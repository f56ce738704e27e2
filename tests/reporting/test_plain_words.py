"""An evaluation in plain words: how many are right, and what a probability is worth."""

from dataclasses import replace

import pytest
from helpers_evaluation import make_results

from samovar.evaluation.metrics import Estimate, ReliabilityBin
from samovar.evaluation.predictors import Predictor
from samovar.reporting.plain_words import in_plain_words
from samovar.settings.tasks import Protocol


def results_with(accuracy: float, bins: list[ReliabilityBin], shot: int = 5):
    results = make_results(protocol=Protocol(5, shot, 3, episodes=6))
    metrics = replace(results.predictive, accuracy=Estimate(accuracy, 0.01), reliability=bins)
    return replace(results, metrics=results.metrics | {Predictor.PREDICTIVE: metrics})


def test_the_sentences_have_the_accuracy_and_the_bin_of_the_sure_answers():
    bins = [
        ReliabilityBin(500, 0.5, 0.45),
        ReliabilityBin(400, 0.897, 0.912),
        ReliabilityBin(2, 0.9, 0.0),
    ]
    assert in_plain_words(results_with(0.79, bins)) == (
        "79 of 100 answers are right, where guessing among 5 classes would get 20; the model has "
        "seen 5 images of each class. Where it says 90 %, it is right in 91 % of cases."
    ), "two answers say nothing"


@pytest.mark.parametrize(("bins", "sentences"), [([], 1), ([ReliabilityBin(9, 0.3, 0.3)], 2)])
def test_a_model_that_is_never_sure_is_described_too(bins, sentences):
    words = in_plain_words(results_with(0.3, bins, shot=1))
    assert words.count(". ") + 1 == sentences
    assert "seen 1 image of each class" in words
