"""Near-duplicates come in groups, whatever the order of the images."""

import numpy as np
import torch

from samovar.prediction import near_duplicates as module
from samovar.prediction.near_duplicates import near_duplicates


def unit(rows: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(rows / np.linalg.norm(rows, axis=1, keepdims=True))


NOISE = np.random.default_rng(0)
FEATURES = NOISE.normal(size=(6, 200))


def test_nearly_equal_directions_are_duplicates_and_others_are_not():
    copy = FEATURES[2] + 0.1 * NOISE.normal(size=200)
    rows = np.vstack([FEATURES, copy])
    assert near_duplicates(unit(rows)) == [(2, 6)]
    assert near_duplicates(unit(FEATURES)) == []
    assert near_duplicates(torch.zeros(0, 4)) == []


def test_duplicates_of_duplicates_are_in_one_group_also_across_blocks(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 2)
    step = 0.2 * NOISE.normal(size=200)
    chain = [FEATURES[0] + number * step for number in range(3)]
    rows = np.vstack([chain[0], FEATURES[1:], chain[2], chain[1]])
    assert near_duplicates(unit(rows)) == [(0, 6, 7)]


def test_the_same_look_counts_only_if_the_features_agree():
    looks = unit(NOISE.normal(size=(3, 256))).float().numpy()
    looks[1] = looks[0]
    alike = FEATURES[0] + 0.8 * NOISE.normal(size=200)
    related = unit(np.vstack([FEATURES[0], alike, FEATURES[1]]))
    assert 0.7 < float(related[0] @ related[1]) < 0.96
    assert near_duplicates(related, looks) == [(0, 1)]
    assert near_duplicates(related) == []
    unrelated = unit(np.vstack([FEATURES[0], FEATURES[2], FEATURES[1]]))
    assert near_duplicates(unrelated, looks) == []
