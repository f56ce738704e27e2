"""Thresholds follow the task's own left-out images where there are any."""

import numpy as np
import pytest

from samovar.errors import SettingsError
from samovar.prediction.regression_rejection import RegressionRejection, RegressionThresholds
from samovar.prediction.rejection import RATES

ABSOLUTE = tuple(np.linspace(-2, 1, len(RATES)).tolist())
RELATIVE = tuple(np.linspace(0, 2, len(RATES)).tolist())
TABLE = RegressionRejection(
    "tasks",
    (RegressionThresholds(5, 1, ABSOLUTE), RegressionThresholds(5, 5, ABSOLUTE, RELATIVE)),
)


def test_thresholds_are_relative_to_the_left_out_images():
    shots = np.full(5, 5)
    usual = TABLE.threshold(5, shots, 0.5, -3.0)
    assert usual == pytest.approx(-3.0)
    assert TABLE.threshold(5, shots, 0.5, -2.5) == pytest.approx(usual + 0.5)
    assert TABLE.threshold(5, shots, 0.05, -3.0) > usual, "rejecting less"


def test_without_left_out_images_thresholds_are_absolute():
    assert TABLE.threshold(5, np.full(5, 1), 0.5, None) == pytest.approx(-2)
    assert TABLE.threshold(5, np.full(5, 1), 0.005, None) == pytest.approx(1)


def test_a_task_of_which_a_few_images_can_be_left_out_takes_a_shape_where_they_can():
    shots = np.array([1, 1, 1, 4])
    table = RegressionRejection(
        "tasks", (*TABLE.cells, RegressionThresholds(5, 2, ABSOLUTE, RELATIVE))
    )
    assert table.threshold(4, shots, 0.5, -3.0) == pytest.approx(-3.0)


def test_rates_beyond_the_table_are_refused():
    with pytest.raises(SettingsError, match="reject must be from"):
        TABLE.threshold(5, np.full(5, 5), 0.9, None)


def test_the_json_form_is_read_back_and_checked():
    assert RegressionRejection.from_dict(TABLE.to_dict()) == TABLE
    stored = TABLE.to_dict()
    stored["cells"][1]["relative"] = [0.0]
    with pytest.raises(ValueError, match="not whole"):
        RegressionRejection.from_dict(stored)
    with pytest.raises(ValueError, match="not those of a regression"):
        RegressionRejection.from_dict(TABLE.to_dict() | {"score": "another"})
