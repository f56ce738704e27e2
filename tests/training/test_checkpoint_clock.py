"""A checkpoint is due after a minute, and sooner before a validation."""

import pytest

from samovar.training.checkpoint_clock import BEFORE_VALIDATION, INTERVAL, CheckpointClock


class Time:
    """A clock that the test sets."""

    seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.mark.parametrize(
    ("seconds", "validates_next", "due"),
    [
        (INTERVAL - 1, False, False),
        (INTERVAL, False, True),
        (BEFORE_VALIDATION - 1, True, False),
        (BEFORE_VALIDATION, True, True),
        (BEFORE_VALIDATION, False, False),
    ],
)
def test_when_a_checkpoint_is_due(seconds, validates_next, due):
    now = Time()
    clock = CheckpointClock(now)
    now.seconds += seconds
    assert clock.is_due(validates_next=validates_next) is due
    clock.restart()
    assert not clock.is_due(validates_next=validates_next)
