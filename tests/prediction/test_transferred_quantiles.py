"""Quantiles of other tasks survive a config, and are interpolated between measured confidences."""

import json

import numpy as np
import pytest

from samovar.errors import SettingsError, UnreadableError
from samovar.prediction.rejection import RATES, ShapeThresholds
from samovar.prediction.transferred_quantiles import (
    SCORE,
    TransferredQuantiles,
    stored_quantiles,
)

QUANTILES = tuple(np.linspace(0.1, 0.9, len(RATES)).tolist())
TABLE = TransferredQuantiles(
    "made-up tasks",
    (ShapeThresholds(2, 1, QUANTILES), ShapeThresholds(20, 1, (0.5,) * len(RATES))),
)


def test_the_table_survives_json_and_old_models_have_none():
    assert stored_quantiles(json.loads(json.dumps(TABLE.to_dict()))) == TABLE
    assert stored_quantiles(None) is None


def test_the_next_larger_number_of_classes_and_the_asked_confidence_decide():
    for rate, quantile in zip(RATES, QUANTILES, strict=True):
        assert TABLE.quantile(2, 1 - rate) == pytest.approx(quantile)
    assert QUANTILES[3] < TABLE.quantile(2, 0.83) < QUANTILES[4]
    assert [TABLE.quantile(way, 0.9) for way in (3, 20, 50)] == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("confidence", [0.4, 0.999])
def test_a_confidence_that_was_not_measured_is_refused(confidence):
    with pytest.raises(SettingsError, match=r"from 0\.5 to 0\.995"):
        TABLE.quantile(5, confidence)


@pytest.mark.parametrize(
    "change", [{"score": "distance"}, {"cells": []}, {"cells": [{"way": 2}]}, {"about": 3}]
)
def test_another_table_is_refused(change):
    with pytest.raises(UnreadableError):
        stored_quantiles(TABLE.to_dict() | change)
    assert TABLE.to_dict()["score"] == SCORE
