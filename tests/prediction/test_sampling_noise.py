"""The noise of the predictive is its own for each task and bank, in any number of dimensions."""

import torch
from torch.quasirandom import SobolEngine

from samovar.models.noise import SampleBlock
from samovar.prediction.sampling_noise import TASKS_PER_BANK, PredictiveNoise


def test_predictive_noise_of_each_task_and_bank_is_its_own():
    block = SampleBlock(0, 4, torch.device("cpu"))
    for quasi in (False, True):
        noise = PredictiveNoise(0, [0, 1, TASKS_PER_BANK - 1, TASKS_PER_BANK], quasi=quasi)
        logits = torch.stack([noise.logits(position, block, 3).flatten() for position in range(4)])
        assert len(logits.unique(dim=0)) == 4
        banks = [noise.weights(position, block, 2, 3).epsilon.clone() for position in range(4)]
        assert torch.equal(banks[0], banks[2])
        assert not torch.equal(banks[0], banks[3])


def test_more_classes_than_a_sobol_sequence_has_dimensions():
    noise = PredictiveNoise(0, [0], quasi=True).logits(
        0, SampleBlock(0, 8, torch.device("cpu")), SobolEngine.MAXDIM + 1
    )
    assert noise.shape == (SobolEngine.MAXDIM + 1, 8)
    assert noise.isfinite().all()
    assert not torch.equal(noise[0], noise[-1])
