"""The test of a changed camera has its level, finds a shift, and does not mind other classes."""

import numpy as np

from samovar.prediction.changed_camera import changed_camera

MEANS = np.random.default_rng(7).normal(size=(4, 30)) * 3


def images(seed: int, counts: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    classes = np.repeat(np.arange(len(counts)), counts)
    noise = np.random.default_rng(seed)
    return MEANS[classes] + noise.normal(size=(len(classes), 30)), classes


def compared(seed: int, shift: float, new_counts: tuple[int, ...] = (6, 6, 6, 6)):
    old, old_classes = images(2 * seed, (6, 6, 6, 6))
    new, new_classes = images(2 * seed + 1, new_counts)
    features = np.concatenate([old, new + shift])
    is_new = np.arange(len(features)) >= len(old)
    return changed_camera(features, np.concatenate([old_classes, new_classes]), is_new)


def test_false_alarms_are_as_rare_as_promised():
    values = [compared(seed, 0.0).probability_of_chance for seed in range(60)]
    assert sum(value < 0.01 for value in values) <= 3
    assert 0.3 < np.mean(values) < 0.7


def test_a_shift_of_all_classes_is_found():
    change = compared(0, 0.6)
    assert change.changed
    assert change.shift > 1.5


def test_other_shares_of_the_classes_are_no_change():
    values = [compared(seed, 0.0, (20, 1, 2, 9)).changed for seed in range(30)]
    assert sum(values) <= 2


def test_nothing_to_compare_is_none_and_the_seed_decides():
    old, classes = images(0, (3, 3))
    features = np.concatenate([old, old])
    both = np.concatenate([classes, classes + 2])
    assert changed_camera(features, both, np.arange(12) >= 6) is None
    assert compared(3, 0.1) == compared(3, 0.1)
