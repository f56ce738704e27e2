"""What the left-out support images of a task say of its temperature."""

import torch
from torch import Tensor

from samovar.models.few_shot_model import FewShotModel
from samovar.models.inference import WeightDistribution
from samovar.prediction.calibration import Calibration
from samovar.prediction.left_out_support import LeftOutSupport
from samovar.prediction.task_temperature import label_log_likelihoods, posterior_weights

SAMPLES = 16
"""Sampled classifiers that answer each left-out image."""


@torch.no_grad()
def learned_temperature(
    calibration: Calibration,
    left_out: LeftOutSupport,
    model: FewShotModel,
    prior: WeightDistribution,
    seed: int = 0,
) -> Tensor:
    """Return the posterior weights of the task's own temperature, (GRID,).

    `prior` is p(w | D) of the whole support, (1, N, d).
    """
    way = len(left_out.counts)
    shots = float(left_out.counts.double().mean())
    usual = calibration.of_left_out(way, shots)
    logits = left_out.logits(model, prior, SAMPLES, seed, usual.factor)
    labels = left_out.numbers.to(logits.device)
    likelihoods = label_log_likelihoods(logits, labels, usual.log_temperatures)
    return posterior_weights(likelihoods.sum(0).cpu())
