"""The shares of several processes cover all work once, and one process changes nothing."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samovar.errors import RunError
from samovar.evaluation.distributed import TASKS_AT_ONCE, Processes

CPU = torch.device("cpu")


class Rank:
    """One of several processes, as fabric describes it."""

    def __init__(self, global_rank: int, world_size: int) -> None:
        self.global_rank = global_rank
        self.world_size = world_size


@given(tasks=st.integers(1, 500), world=st.integers(2, 5))
def test_every_task_belongs_to_exactly_one_process(tasks, world):
    numbers = []
    for rank in range(world):
        for batch in Processes(Rank(rank, world), CPU).share_of_tasks(tasks):
            assert len(batch) <= TASKS_AT_ONCE
            numbers += list(batch)
    assert sorted(numbers) == list(range(tasks))


def test_a_single_process_has_everything_and_changes_nothing():
    alone = Processes(None, CPU)
    rows = torch.randn(30, 2)
    assert alone.count == 1
    assert alone.gathered(rows, 30) is rows
    assert alone.total(rows) is rows
    assert np.concatenate(alone.share_of_tasks(30)).tolist() == list(range(30))
    alone.check_tasks(1)


def test_more_processes_than_batches_of_tasks_are_refused():
    Processes(Rank(0, 2), CPU).check_tasks(TASKS_AT_ONCE + 1)
    with pytest.raises(RunError, match="2 processes are too many"):
        Processes(Rank(0, 2), CPU).check_tasks(TASKS_AT_ONCE)
