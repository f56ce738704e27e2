"""Support images that are classified as if they had not been in the support.

This tells how well a task can be learned from its own images, and how far these lie from each
other, by which rejection thresholds are scaled. Class sums make it cheap: leaving an image out
changes the mean of one class, and nothing else. (How hard the task is, by which its temperature is
chosen, is learned from `samovar.prediction.smaller_tasks`.)
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.models.class_means import ClassMeans
from samovar.models.few_shot_model import FewShotModel
from samovar.models.inference import WeightDistribution
from samovar.prediction.calibrated import predict_calibrated
from samovar.prediction.calibration import TaskCalibration
from samovar.prediction.predictive import predict
from samovar.prediction.rejection import Rejection, RejectionScore
from samovar.prediction.sampling_noise import PredictiveNoise
from samovar.prediction.task import class_means

MOST_LEFT_OUT = 200
"""Support images that are left out in turn, at most."""
LARGEST_CHUNK = 2**23
"""Numbers of the classifiers that are in memory at once."""


@dataclass(frozen=True)
class LeftOutSupport:
    """The support images that are left out in turn: those of classes with two or more.

    totals, counts: of all classes, (N, d) in float64 and (N,); features, numbers: of the images
    that are left out, (n, d), and of their classes, (n,); positions: where these images stand in
    the support.
    """

    totals: Tensor
    counts: Tensor
    features: Tensor
    numbers: Tensor
    positions: tuple[int, ...]

    @classmethod
    def of(
        cls,
        totals: Tensor,
        counts: Tensor,
        features: Tensor,
        numbers: Tensor,
        most: int = MOST_LEFT_OUT,
    ) -> "LeftOutSupport | None":
        """Choose at most so many support images, evenly spaced; return None if no class has two.

        Args:
            totals: The sums of each class's features, (N, d).
            counts: The number of its images, (N,).
            features: Of all support images, (n, d).
            numbers: Of their classes, (n,).
            most: The largest number that is chosen.
        """
        candidates = torch.nonzero(counts[numbers] > 1).flatten()
        if not len(candidates):
            return None
        # Evenly spaced, so that all classes are among them although images come class by class.
        count = min(most, len(candidates))
        spaced = np.unique(np.linspace(0, len(candidates) - 1, count).astype(int))
        chosen = candidates[spaced]
        positions = tuple(chosen.tolist())
        chosen_features = features[chosen.to(features.device)]
        return cls(totals.double(), counts, chosen_features, numbers[chosen], positions)

    def scores(self, score: RejectionScore) -> NDArray[np.float64]:
        """Return how little each image belongs to the task, leaving it out of its own mean."""
        device = self.features.device
        means = class_means(self.totals, self.counts, device)
        by_class = score.by_class(self.features, means.means[0])
        # Only the mean of the image's own class changes, so one comparison is replaced.
        rest = self._means_without(slice(None)).means[0]
        to_own_class = score.by_class(self.features[:, None], rest[:, None])[:, 0]
        by_class = by_class.scatter(1, self.numbers[:, None].to(device), to_own_class)
        return score.overall(by_class).cpu().double().numpy()

    def spread(self, thresholds: Rejection) -> float | None:
        """Return how far the images lie from each other, relative to the measured tasks."""
        # Without the image itself its class has one image less.
        shot = float(np.median(self.counts[self.numbers].numpy())) - 1
        return thresholds.spread_ratio(len(self.counts), shot, self.scores(thresholds.score))

    def probabilities(
        self,
        model: FewShotModel,
        prior: WeightDistribution,
        samples: int,
        seed: int,
        calibration: TaskCalibration | None = None,
    ) -> Tensor:
        """Return the probabilities (n, N) that the classifier without it gives to each image.

        `prior` is p(w | D) of the whole support, (1, N, d). The calibration is that of the task, so
        that left-out images are answered on the scale of new ones.
        """
        probabilities = []
        for images, without in self._priors(model, prior):
            features = self.features[images, None]
            noise = PredictiveNoise(seed, [0] * len(features), quasi=True)
            if calibration is None:
                prediction = predict(model.classifier, without, features, samples, noise)
            else:
                calibrations = [calibration] * len(features)
                prediction = predict_calibrated(
                    model.classifier, without, features, samples, noise, calibrations
                )
            probabilities.append(prediction.probabilities[:, 0].cpu().double())
        return torch.cat(probabilities)

    def _priors(
        self, model: FewShotModel, prior: WeightDistribution
    ) -> Iterator[tuple[slice, WeightDistribution]]:
        """Infer p(w | D without x_i) of some images at a time, (images, N, d)."""
        at_once = max(1, LARGEST_CHUNK // prior.weights.mean.numel())
        for first in range(0, len(self.numbers), at_once):
            images = slice(first, first + at_once)
            others = model.prior(self._means_without(images))
            numbers = self.numbers[images].to(prior.weights.mean.device)
            yield images, prior.with_classes(numbers, others)

    def _means_without(self, images: slice) -> ClassMeans:
        """Return the mean of each image's class without the image, (1, n, d)."""
        numbers = self.numbers[images]
        totals = self.totals[numbers] - self.features[images].cpu().double()
        return class_means(totals, self.counts[numbers] - 1, self.features.device)
