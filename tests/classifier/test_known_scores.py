"""Scores of images with known labels survive a file, and what is no score is refused."""

import json

import numpy as np
import pytest

from samovar.classifier.known_scores import KnownScores
from samovar.errors import DataError, UnreadableError

KNOWN = KnownScores((0.25, 1.0, 0.1), (1, 0, 1))


def test_scores_survive_json_and_are_counted_by_class():
    again = KnownScores.from_json(json.loads(json.dumps(KNOWN.to_json())), way=2)
    assert again == KNOWN
    assert len(again) == 3
    assert again.counts(3).tolist() == [1, 2, 0]


def test_labels_that_are_no_class_are_refused_by_name():
    with pytest.raises(DataError, match=r"no class 'dog'.*1 of 2"):
        KnownScores.of(np.full((2, 2), 0.5), ["cat", "dog"], ["cat", "cow"])


@pytest.mark.parametrize(
    "stored",
    [
        {"scores": [0.5]},
        {"scores": [], "numbers": []},
        {"scores": [0.5, 0.5], "numbers": [0]},
        {"scores": [1.5], "numbers": [0]},
        {"scores": [-0.1], "numbers": [0]},
        {"scores": [0.5], "numbers": [2]},
        {"scores": [0.5], "numbers": [-1]},
        {"scores": "many", "numbers": [0]},
    ],
)
def test_a_file_with_other_things_in_it_is_refused(stored):
    with pytest.raises(UnreadableError):
        KnownScores.from_json(stored, way=2)
