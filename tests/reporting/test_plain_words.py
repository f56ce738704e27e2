"""An evaluation in plain words: how many are right, and what a probability is worth."""

from dataclasses import replace

import pytest
from helpers_evaluation import make_results

from samovar.evaluation.metrics import Estimate, ReliabilityBin
from samovar.evaluation.predictors import Predictor
from samovar.reporting.plain_words import in_plain_words
from samovar.settings.tasks import Protocol

TOO_SURE = Estimate(0.031, 0.01)


def results_with(
    accuracy: float,
    bins: list[ReliabilityBin],
    shot: int = 5,
    gap: Estimate = TOO_SURE,
):
    results = make_results(protocol=Protocol(5, shot, 3, episodes=6))
    metrics = replace(
        results.predictive, accuracy=Estimate(accuracy, 0.01), reliability=bins, gap=gap
    )
    return replace(results, metrics=results.metrics | {Predictor.PREDICTIVE: metrics})


def test_the_sentences_have_the_accuracy_and_the_bin_of_the_sure_answers():
    bins = [
        ReliabilityBin(500, 0.5, 0.45),
        ReliabilityBin(400, 0.897, 0.912),
        ReliabilityBin(2, 0.9, 0.0),
    ]
    assert in_plain_words(results_with(0.79, bins)) == (
        "79 of 100 answers are right, where guessing among 5 classes would get 20; the model has "
        "seen 5 images of each class. On average it is too sure by 3.1 points. Where it says 90 %, "
        "it is right in 91 % of cases."
    ), "two answers say nothing"


@pytest.mark.parametrize(("bins", "sentences"), [([], 2), ([ReliabilityBin(9, 0.3, 0.3)], 3)])
def test_a_model_that_is_never_sure_is_described_too(bins, sentences):
    words = in_plain_words(results_with(0.3, bins, shot=1))
    assert words.count(". ") + 1 == sentences
    assert "seen 1 image of each class" in words


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (Estimate(0.12, 0.01), "it is too sure by 12.0 points"),
        (Estimate(-0.041, 0.01), "it is too modest by 4.1 points"),
        (Estimate(0.03, 0.05), "as sure as it should be, as far as these tasks can tell"),
        (Estimate(-0.0002, 0.0001), "as sure as it should be"),
    ],
)
def test_the_sign_of_the_calibration_error_is_said(gap, words):
    assert words in in_plain_words(results_with(0.5, [], gap=gap))
