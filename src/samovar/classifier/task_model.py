"""A model at work on one task: from images to features, from class sums to p(w | D), from features to answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from samovar.artifacts.saved_model import SavedModel
from samovar.classifier.fitted_task import FittedTask
from samovar.data.normalization import network_input
from samovar.models.class_means import ClassMeans
from samovar.models.inference import WeightDistribution
from samovar.models.task_embedding import Film
from samovar.prediction.predictive import Prediction, predict
from samovar.prediction.rejection import cosine, cosine_distance, nearest
from samovar.prediction.sampling_noise import PredictiveNoise

CHUNK = 256
"""Images that are embedded, and queries that are answered, at once."""


class Inferred(NamedTuple):
    """p(w | D) of a fitted task, and TEN's conditioning where queries need it (TADAM)."""

    prior: WeightDistribution
    films: list[Film] | None


@dataclass(frozen=True)
class TaskModel:
    """A saved model on a device."""

    saved: SavedModel
    device: torch.device

    @torch.no_grad()
    def embed(self, inputs: Sequence[Tensor], films: list[Film] | None = None) -> Tensor:
        """Features (n, d) of network inputs."""
        saved, parts = self.saved, []
        for first in range(0, len(inputs), CHUNK):
            images = torch.stack(list(inputs[first : first + CHUNK])).to(self.device)
            x = (
                saved.normalisation(images)
                if images.ndim == 2
                else network_input(images, saved.normalisation)
            )
            parts.append(saved.model.embed(x[None], films)[0].float())
        return torch.cat(parts) if len(parts) > 1 else parts[0]

    @torch.no_grad()
    def condition(
        self, task: FittedTask, support: Sequence[Tensor], labels: Sequence[object]
    ) -> FittedTask:
        """The task with the sums of its support's features conditioned on itself (TEN)."""
        again = FittedTask.of(self.embed(support, self._films(task)), labels)
        return FittedTask(task.classes, task.totals, task.counts, again.totals)

    @torch.no_grad()
    def infer(self, task: FittedTask) -> Inferred:
        """The distribution over the classifiers of a fitted task."""
        model = self.saved.model
        totals = task.totals if task.conditioned is None else task.conditioned
        prior = model.prior(self._sums(totals, task.counts))
        return Inferred(prior, self._films(task) if model.classifier.deterministic else None)

    @torch.no_grad()
    def infer_without(
        self, task: FittedTask, prior: WeightDistribution, feature: Tensor, label: int
    ) -> WeightDistribution:
        """The distribution had one support image, of class number `label`, not been there: only its class changes."""
        rest = task.totals[label] - feature.cpu().double()
        changed = self.saved.model.prior(self._sums(rest[None], (task.counts[label] - 1)[None]))
        return prior.with_class(label, changed)

    def answer(
        self, features: Tensor, prior: WeightDistribution, samples: int, seed: int
    ) -> list[Prediction]:
        """The predictive of queries with features (n, d), by quasi-random classifiers; a chunk of queries at a time."""
        noise, classifier = PredictiveNoise(seed, [0], quasi=True), self.saved.model.classifier
        return [
            predict(classifier, prior, part[None], samples, noise) for part in features.split(CHUNK)
        ]

    def distances(self, features: Tensor, task: FittedTask) -> Tensor:
        """How far queries with unconditioned features (n, d) are from the nearest class, (n,)."""
        means = self._sums(task.totals, task.counts).totals[0]
        return torch.cat([cosine_distance(part, means) for part in features.split(CHUNK)])

    def own_distances(self, features: Tensor, labels: Tensor, task: FittedTask) -> Tensor:
        """The same of support images (n, d), of classes with two or more, each had it not been in the support."""
        rest = self._sums(
            task.totals[labels] - features.cpu().double(), task.counts[labels] - 1
        ).totals[0]
        cosines = cosine(features, self._sums(task.totals, task.counts).totals[0])
        own = cosine(features[:, None], rest[:, None])[:, 0]
        return nearest(cosines.scatter(1, labels[:, None].to(self.device), own))

    def _films(self, task: FittedTask) -> list[Film] | None:
        return self.saved.model.films(self._sums(task.totals, task.counts))

    def _sums(self, totals: Tensor, counts: Tensor) -> ClassMeans:
        """Class means in float64, as the sums of one image each, for one task."""
        means = (totals / counts[:, None]).float().to(self.device)[None]
        return ClassMeans(means, torch.ones(means.shape[:-1], device=self.device))
