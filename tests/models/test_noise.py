"""The noise of a task is its own for each seed, step, task and purpose."""

import torch

from samovar.models.noise import TaskNoise


def test_noise_of_a_task_is_its_own_for_each_seed_step_task_and_purpose():
    ask = [
        (0, 0, [5, 6], "weights"),
        (1, 0, [5, 6], "weights"),
        (0, 1, [5, 6], "weights"),
        (0, 0, [5, 6], "dropout"),
    ]
    drawn = [TaskNoise(seed, step, tasks).normal(purpose, 3) for seed, step, tasks, purpose in ask]
    rows = torch.cat(drawn)
    assert len(rows.unique(dim=0)) == len(rows), "no two are alike"
    torch.testing.assert_close(
        TaskNoise(0, 0, [6]).normal("weights", 3), drawn[0][1:], rtol=0, atol=0
    )
