"""Laws over shots and ways, and how they are stored."""

import json
import math
from dataclasses import replace

import pytest
import torch
from helpers import CALIBRATION

from samovar.errors import UnreadableError
from samovar.models.closed_form import GRID
from samovar.prediction.calibration import Calibration, ShapeLaw
from samovar.prediction.task_temperature import prior_weights


def test_a_law_is_its_formula():
    law = CALIBRATION.temperature
    x, y = math.log(4), math.log(10 / 5)
    assert law.at(10, 4) == pytest.approx(math.exp(1.0 - 0.5 * x + 0.1 * x * x + 0.2 * y))
    assert ShapeLaw().at(7, 3) == 1


def test_laws_are_not_followed_beyond_what_was_measured():
    inside = CALIBRATION.of_task(5, 20, None)
    beyond = CALIBRATION.of_task(5, 500, None)
    torch.testing.assert_close(inside.log_temperatures, beyond.log_temperatures)
    wide, wider = CALIBRATION.of_task(32, 5, None), CALIBRATION.of_task(1000, 5, None)
    torch.testing.assert_close(wide.log_temperatures, wider.log_temperatures)
    less_than_one = CALIBRATION.of_task(5, 0.5, None)
    assert less_than_one.factor == CALIBRATION.of_task(5, 1, None).factor


def test_temperatures_are_drawn_by_their_weights():
    weights = torch.zeros(GRID, dtype=torch.float64)
    weights[3], weights[9] = 0.25, 0.75
    task = CALIBRATION.of_task(5, 5, weights)
    inverse = task.inverse_temperatures((torch.arange(8) + 0.5) / 8)
    expected = torch.exp(-task.log_temperatures[[3, 3, 9, 9, 9, 9, 9, 9]]).float()
    torch.testing.assert_close(inverse, expected)
    middle = CALIBRATION.of_task(5, 5, prior_weights()).inverse_temperatures(torch.tensor([0.5]))
    assert float(middle) == pytest.approx(1 / CALIBRATION.temperature.at(5, 5))


def test_a_calibration_is_stored_and_read_again():
    stored = json.loads(json.dumps(CALIBRATION.to_dict()))
    assert Calibration.from_dict(stored) == CALIBRATION


def test_calibrations_of_the_earlier_version_are_read_and_mean_the_same():
    """They have a term in 1 / shots, and a law for left-out images that is not needed any more."""
    law = {
        "constant": 1.0,
        "by_log_shots": -0.5,
        "by_squared_log_shots": 0.1,
        "by_inverse_shots": 0.3,
        "by_log_ways": 0.2,
    }
    stored = CALIBRATION.to_dict() | {"temperature": law, "left_out": law | {"constant": 2.0}}
    former = Calibration.from_dict(stored)
    x, y = math.log(4), math.log(10 / 5)
    exponent = -0.5 * x + 0.1 * x * x + 0.3 / 4 + 0.2 * y
    assert former.temperature.at(10, 4) == pytest.approx(math.exp(1.0 + exponent))


@pytest.mark.parametrize(
    "damage",
    [
        {"spread": -1.0},
        {"spread": 1e9},
        {"sigma": {"constant": 1e300, "by_log_ways": -1e300}},
        {"spread": "wide"},
        {"most_ways": 0},
        {"sigma": {"constant": "warm"}},
        {"temperature": None},
    ],
)
def test_a_damaged_calibration_is_refused(damage):
    with pytest.raises(UnreadableError):
        Calibration.from_dict(CALIBRATION.to_dict() | damage)


def test_no_law_overflows():
    absurd = replace(CALIBRATION, temperature=ShapeLaw(1e300, 1e300))
    assert torch.isfinite(absurd.of_task(5, 5, None).log_temperatures).all()
