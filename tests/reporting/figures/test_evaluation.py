"""Pictures of evaluations are PNG files that depend on the numbers and on nothing else."""

import pytest
from helpers_evaluation import make_results, make_rivals, metrics_of
from helpers_images import drawn, has_color

from samovar.evaluation.predictors import OF_MODEL, RIVALS, Predictor
from samovar.reporting.figures.evaluation import (
    COLORS,
    reliability_figure,
    risk_coverage_figure,
    rivals_figure,
    sampling_figure,
    shots_figure,
)
from samovar.reporting.figures.style import BLUE, VERMILION
from samovar.settings.tasks import Protocol

UNTEMPERED = (Predictor.PREDICTIVE, Predictor.MEAN_CLASSIFIER)


@pytest.mark.parametrize("predictors", [OF_MODEL, UNTEMPERED])
@pytest.mark.parametrize("draw", [reliability_figure, risk_coverage_figure])
def test_pictures_with_and_without_temperatures(draw, predictors):
    picture = draw(make_results(predictors))
    for predictor in predictors:
        assert has_color(picture, COLORS[predictor])
    assert draw(make_results(predictors)) == picture, "no date, no version"
    other = {predictor: metrics_of(predictor, seed=7) for predictor in predictors}
    assert draw(make_results(predictors, metrics=other)) != picture


def test_the_rivals_stand_beside_the_model():
    picture = rivals_figure(make_results(rivals=make_rivals()))
    for predictor in (Predictor.PREDICTIVE, Predictor.CALIBRATED, *RIVALS):
        assert has_color(picture, COLORS[predictor])
    assert drawn(picture).shape[1] == (4.2 * 6 + 0.4) * 200, "a column for each"


def test_every_predictor_has_a_colour():
    assert set(COLORS) == set(Predictor)


def test_accuracy_over_shots_does_not_depend_on_the_order_of_evaluations():
    evaluations = []
    for way, shot in ((2, 1), (2, 5), (3, 1)):
        protocol = Protocol(way, shot, 4, episodes=6)
        evaluations.append(make_results(UNTEMPERED, protocol))
    picture = shots_figure(evaluations)
    assert drawn(picture).shape[:2] == (3.8 * 200, 5.2 * 200)
    assert shots_figure(evaluations[::-1]) == picture


@pytest.mark.parametrize(("repeats", "equal"), [(1, None), (3, 8)])
def test_studies_are_drawn_with_and_without_repeats(repeats, equal):
    rows = []
    for kind in ("plain", "quasi"):
        for samples in (1, 8):
            accuracy = [0.5 + 0.01 * repeat for repeat in range(repeats)]
            row = {"kind": kind, "samples": samples, "accuracy": accuracy, "error": 0.1 / samples}
            rows.append(row)
    study = {
        "mean_classifier": {"accuracy": 0.6},
        "results": rows,
        "quasi_equal_to_1000": equal,
        "protocol": {"way": 5, "shot": 1},
    }
    one = sampling_figure(study)
    assert has_color(one, BLUE), "quasi-random samples"
    assert has_color(one, VERMILION), "random samples"
    two = sampling_figure(study, study | {"model": "SAMOVAR"})
    assert len(drawn(two)) == 2 * len(drawn(one)), "a row for each study"
