"""What the left-out support images of a task say of its temperature."""

import torch
from torch import Tensor

from samovar.models.few_shot_model import FewShotModel
from samovar.prediction.calibration import Calibration
from samovar.prediction.smaller_tasks import SmallerTasks
from samovar.prediction.task_temperature import (
    label_log_likelihoods,
    posterior_weights,
    prior_weights,
)

SAMPLES = 16
"""Sampled classifiers that answer each left-out image."""


@torch.no_grad()
def learned_temperature(
    calibration: Calibration, smaller: SmallerTasks, model: FewShotModel, seed: int = 0
) -> Tensor:
    """Return the posterior weights of the task's own temperature, (GRID,)."""
    way = len(smaller.counts)
    usual = calibration.of_task(way, smaller.shots, prior_weights())
    logits, labels = smaller.logits(model, SAMPLES, seed, usual.factor)
    likelihoods = label_log_likelihoods(logits, labels, usual.log_temperatures)
    return posterior_weights(likelihoods.sum(0).cpu())
