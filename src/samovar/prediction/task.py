"""One fitted task, from images to predictions.

A task that a user fits differs from the tasks of an evaluation in two respects: its images come
from memory instead of a store, and what is kept of its support are sums of features, since more
images may be added later. The functions are in the order of their use: embed images, take class
means, infer p(w | D), predict queries, measure distances.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from samovar.data.normalization import Normalization, network_input
from samovar.models.class_means import ClassMeans
from samovar.models.few_shot_model import Conditioned, FewShotModel
from samovar.models.inference import WeightDistribution
from samovar.models.task_embedding import Film
from samovar.prediction.calibrated import predict_calibrated
from samovar.prediction.calibration import TaskCalibration
from samovar.prediction.predictive import Prediction, predict
from samovar.prediction.rejection import RejectionScore
from samovar.prediction.sampling_noise import PredictiveNoise

CHUNK = 256
"""The number of images that are embedded, and of queries that are answered, at once."""


@dataclass(frozen=True)
class Embedder:
    """A model on a device that turns a user's images into features.

    Inputs are images (H, W, C) uint8, converted as the model takes them, or feature vectors (d,).
    """

    model: FewShotModel
    normalisation: Normalization
    device: torch.device

    @torch.no_grad()
    def __call__(self, inputs: Sequence[Tensor], films: list[Film] | None = None) -> Tensor:
        """Return the features (n, d) of inputs, conditioned on a task where `films` are given."""
        # An empty chunk first, so that no images have features (0, d).
        chunks = [torch.zeros(0, self.model.feature_dim, device=self.device)]
        for first in range(0, len(inputs), CHUNK):
            images = torch.stack(list(inputs[first : first + CHUNK])).to(self.device)
            features = self.model.embed(self._normalised(images)[None], films)
            chunks.append(features[0].float())
        return torch.cat(chunks)

    def _normalised(self, images: Tensor) -> Tensor:
        if images.ndim == 2:  # feature vectors have no channels to move
            return self.normalisation(images)
        return network_input(images, self.normalisation)


def class_means(totals: Tensor, counts: Tensor, device: torch.device) -> ClassMeans:
    """Return the class means of one task, (1, N, d), from sums (N, d) in float64 and counts (N,).

    The division is in float64, so that the order in which images were added does not show. The
    means are returned as sums of one image each, with the counts beside them.
    """
    means = (totals / counts[:, None]).float().to(device)[None]
    ones = torch.ones(means.shape[:-1], device=device)
    return ClassMeans(means, ones, averaged=counts.to(device)[None])


@torch.no_grad()
def task_films(model: FewShotModel, plain: ClassMeans) -> list[Film] | None:
    """Return TEN's conditioning by the means of the support's plain features; None without TEN."""
    return model.films(plain)


@torch.no_grad()
def infer_task(
    model: FewShotModel, plain: ClassMeans, conditioned: ClassMeans | None
) -> Conditioned:
    """Infer p(w | D) from class means; with TEN, from those of the conditioned features."""

    def embed_again(films: list[Film]) -> ClassMeans:
        del films  # the sums under them were kept when the task was fitted
        if conditioned is None:
            raise ValueError("a task of a model with TEN keeps the sums of conditioned features")
        return conditioned

    return model.condition(plain, embed_again)


def predict_queries(
    model: FewShotModel,
    prior: WeightDistribution,
    features: Tensor,
    samples: int,
    seed: int,
    calibration: TaskCalibration | None = None,
) -> Prediction:
    """Return the predictive of queries with features (n, d), by quasi-random classifiers.

    They are calibrated if there is a calibration.
    """
    # A task that is fitted by itself is number 0 of its seed; all chunks share its classifiers.
    noise = PredictiveNoise(seed, [0], quasi=True)
    classifier = model.classifier
    predictions = []
    for chunk in features.split(CHUNK):
        queries = chunk[None]
        if calibration is None:
            prediction = predict(classifier, prior, queries, samples, noise)
        else:
            calibrations = [calibration]
            prediction = predict_calibrated(
                classifier, prior, queries, samples, noise, calibrations
            )
        predictions.append(prediction)
    return _joined(predictions)


def rejection_scores(score: RejectionScore, features: Tensor, means: ClassMeans) -> Tensor:
    """Return how little queries with plain features (n, d) belong to a task's classes, (n,)."""
    scores = []
    for chunk in features.split(CHUNK):
        scores.append(score(chunk, means.means[0]))
    return torch.cat(scores)


def _joined(predictions: list[Prediction]) -> Prediction:
    """Join predictions of the same task along the axis of the queries."""
    joined: dict[str, Any] = {}
    for field in dataclasses.fields(Prediction):
        values = [getattr(prediction, field.name) for prediction in predictions]
        joined[field.name] = None
        if values[0] is not None:
            joined[field.name] = torch.cat(values, 1)
    return Prediction(**joined)
