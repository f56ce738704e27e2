"""The predictive of calibrated classifiers: wider or narrower weights, and a temperature."""

from collections.abc import Sequence

import torch
from torch import Tensor

from samovar.models.classifiers import Classifier, LogitSampler
from samovar.models.inference import WeightDistribution
from samovar.models.noise import PredictionNoise, SampleBlock
from samovar.models.precision import full_precision
from samovar.prediction.calibration import TaskCalibration
from samovar.prediction.predictive import Prediction, average_samples, entropy_of


class CalibratedSampler(LogitSampler):
    """Divides sampled logits by temperatures; each sampled classifier has its own."""

    def __init__(
        self,
        sampler: LogitSampler,
        calibrations: Sequence[TaskCalibration],
        noise: PredictionNoise,
    ) -> None:
        self.sampler = sampler
        self.calibrations = calibrations
        self.noise = noise
        self.numbers_per_sample = sampler.numbers_per_sample

    def __call__(self, task: int, block: SampleBlock, queries: slice) -> Tensor:
        """Sample logits (N, L, Q) of some queries of a task."""
        shares = self.noise.temperature_shares(task, block)
        inverse = self.calibrations[task].inverse_temperatures(shares).to(block.device)
        return self.sampler(task, block, queries) * inverse[:, None]


@torch.no_grad()
def predict_calibrated(
    classifier: Classifier,
    distribution: WeightDistribution,
    features: Tensor,
    samples: int,
    noise: PredictionNoise,
    calibrations: Sequence[TaskCalibration],
) -> Prediction:
    """Return the calibrated predictive of query features (T, Q, d), one calibration for a task."""
    if classifier.deterministic:
        return _tempered(classifier.mean_logits(features, distribution), calibrations)
    factors = torch.tensor([calibration.factor for calibration in calibrations])
    with full_precision(features):
        widened = distribution.widened(factors.to(features.device))
        sampler = classifier.predictive_sampler(features.float(), widened, noise)
        tasks, way = distribution.weights.mean.shape[:2]
        shape = (tasks, way, features.shape[1])
        calibrated = CalibratedSampler(sampler, calibrations, noise)
        return average_samples(calibrated, samples, shape, features.device)


def _tempered(logits: Tensor, calibrations: Sequence[TaskCalibration]) -> Prediction:
    """Average the softmax of logits (T, Q, N) over the temperatures: there is nothing to sample."""
    probabilities = torch.zeros_like(logits)
    for task, calibration in enumerate(calibrations):
        inverses = torch.exp(-calibration.log_temperatures).tolist()
        for inverse, weight in zip(inverses, calibration.weights.tolist(), strict=True):
            probabilities[task] += weight * (logits[task] * inverse).softmax(-1)
    return Prediction(probabilities, entropy_of(probabilities))
