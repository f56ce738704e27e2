"""The course of a training is drawn from whatever has been logged."""

import pytest
from helpers_images import drawn, has_color

from samovar.reporting.figures.style import BLACK, BLUE, GREEN, VERMILION
from samovar.reporting.figures.training import training_figure

TRACE = [{"update": 1, "loss": 2.0, "nll": 1.5}, {"update": 2, "loss": 1.0, "nll": 0.5}]


@pytest.mark.parametrize("variance", [None, 0.0, 0.5])
def test_runs_with_and_without_variances_are_drawn(variance):
    """Prototypes predict a variance of zero, which a logarithmic axis could not show."""
    lines = [dict(line) for line in TRACE]
    if variance is not None:
        lines[0]["largest_weight_variance"] = variance
    lines.append({"update": 2, "validation_accuracy": 0.5})
    picture = training_figure(lines)
    for color in (BLUE, BLACK, GREEN):
        assert has_color(picture, color), "NLL, loss and accuracy"
    assert has_color(picture, VERMILION) == (variance is not None)


def test_equal_runs_have_equal_pictures_and_other_runs_others():
    assert training_figure(TRACE) == training_figure(TRACE)
    assert training_figure(TRACE) != training_figure(TRACE[:1])


def test_a_run_without_metrics_is_drawn():
    assert drawn(training_figure([])).shape[:2] == (3.2 * 200, 11 * 200)
