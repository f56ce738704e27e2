"""Answers the tasks of a data set by a model, each image embedded as seldom as the model allows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from lightning_fabric import Fabric
from torch import Tensor

from samovar.core.progress import Progress, silent
from samovar.data.batches import BatchSource
from samovar.data.dataset import Dataset, Indices
from samovar.data.episodes import Episodes, EpisodeSampler, draw_outside
from samovar.data.normalization import Normalization
from samovar.errors import DataError, RunError, SettingsError
from samovar.evaluation.outcomes import OUTSIDE, Outcomes
from samovar.models.backbones.layers import norm_modes
from samovar.models.class_means import ClassMeans
from samovar.models.few_shot_model import FewShotModel
from samovar.models.inference import WeightDistribution
from samovar.prediction.predictive import Prediction, predict, predict_at_mean
from samovar.prediction.rejection import cosine_distance
from samovar.prediction.sampling_noise import BANK, PredictiveNoise
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import Protocol

CHUNK = 256
"""Images that are embedded at once: always as many, so that features do not depend on what else is evaluated."""

Predictors = Callable[[Prediction, Prediction], dict[str, Prediction]]
"""From the predictive and the answer at the mean to all predictions that are wanted, by name."""


def both_ways(sampled: Prediction, at_mean: Prediction) -> dict[str, Prediction]:
    """The predictive and the classifier at the mean."""
    return {"predictive": sampled, "mean_classifier": at_mean}


@dataclass(frozen=True)
class InferredTasks:
    """Some tasks of a protocol: the queries' labels (T, Q) and features (T, Q, d), the prior over the classifiers."""

    numbers: range
    episodes: Episodes
    labels: Tensor
    prior: WeightDistribution
    query: Tensor

    def noise(self, seed: int, *, quasi: bool = False) -> PredictiveNoise:
        """Noise of each task's own."""
        return PredictiveNoise(seed, self.numbers, quasi)


class TaskRunner:
    """Answers tasks.

    Under running norm every image is embedded once, when the evaluator is made. With TEN the support is embedded again
    for each task, since it is conditioned on it (TADAM: the queries too). Under episode norm all images of a task are.
    With several processes each embeds and answers its share, and all have the whole in the end.
    """

    def __init__(
        self,
        model: FewShotModel,
        dataset: Dataset,
        normalisation: Normalization,
        device: torch.device,
        fabric: Fabric | None = None,
    ) -> None:
        self.model, self.device, self.dataset = model.eval(), device, dataset
        self.fabric = fabric if fabric is not None and fabric.world_size > 1 else None
        self.source = BatchSource(dataset, normalisation, device, seed=0)
        self._features = None if "episode" in norm_modes(model) else self._embed_all()

    @torch.no_grad()
    def _embed_all(self) -> tuple[Indices, Tensor]:
        """Indices of all images of the split, sorted, and their features."""
        spans = zip(self.dataset.starts, self.dataset.counts, strict=True)
        indices = np.sort(np.concatenate([start + np.arange(count) for start, count in spans]))
        chunks = range(0, len(indices), CHUNK)
        together = self.fabric is not None and len(chunks) >= self.fabric.world_size
        own = self._share(chunks) if together else chunks
        parts = [
            self.model.embed(self.source.inputs(indices[None, each : each + CHUNK]))[0]
            for each in own
        ]
        if not together:
            return indices, torch.cat(parts)
        features = parts[0].new_zeros(len(indices), parts[0].shape[1])
        for first, part in zip(own, parts, strict=True):
            features[first : first + CHUNK] = part
        return indices, self.total(features)

    def _share(self, work: range) -> range:
        """This process's part of the work, in steps that are never cut."""
        return (
            work if self.fabric is None else work[self.fabric.global_rank :: self.fabric.world_size]
        )

    def total(self, values: Tensor) -> Tensor:
        """The sum over all processes."""
        if self.fabric is None:
            return values
        combined = self.fabric.all_reduce(values.to(self.device), reduce_op="sum")
        assert isinstance(combined, Tensor)
        return combined

    def gathered(self, own: Tensor, tasks: int) -> Tensor:
        """A row for each of all tasks in order, from the rows of each process's own tasks."""
        if self.fabric is None:
            return own
        rows = np.concatenate(
            [
                np.arange(each, min(each + BANK, tasks))
                for each in self._share(range(0, tasks, BANK))
            ]
        )
        whole = own.new_zeros(tasks, *own.shape[1:])
        whole[torch.from_numpy(rows).to(own.device)] = own
        return self.total(whole)

    def features_of(self, wanted: Indices) -> Tensor:
        """Features (..., d) of images at these indices, where each image is embedded once."""
        assert self._features is not None
        indices, features = self._features
        return features[torch.from_numpy(np.searchsorted(indices, wanted)).to(features.device)]

    @torch.no_grad()
    def features(self, wanted: Indices) -> Tensor:
        """Unconditioned features (T, n, d) of images (T, n), under episode norm by the statistics of these n."""
        return (
            self.model.embed(self.source.inputs(wanted))
            if self._features is None
            else self.features_of(wanted)
        )

    def class_means(self, episodes: Episodes) -> Tensor:
        """Means (T, N, d) of the unconditioned features of the support."""
        labels = torch.tensor(episodes.support_labels, device=self.device)
        return ClassMeans.of(
            self.features(episodes.support), labels, episodes.classes.shape[1]
        ).means

    @torch.no_grad()
    def infer(self, episodes: Episodes) -> tuple[WeightDistribution, Tensor]:
        """The prior over the classifier of some tasks, and the features of their queries."""
        model, way = self.model, episodes.classes.shape[1]
        labels = torch.tensor(episodes.support_labels, device=self.device)
        if self._features is None:
            prior, films = model.condition(self.source.inputs(episodes.support), labels, way)
        else:
            sums = ClassMeans.of(self.features_of(episodes.support), labels, way)
            films = model.films(sums)
            if films is not None:
                sums = ClassMeans.of(
                    model.embed(self.source.inputs(episodes.support), films), labels, way
                )
            prior = model.prior(sums)
        conditioned = (
            films is not None and model.classifier.deterministic
        )  # TADAM classifies conditioned features
        if self._features is not None and not conditioned:
            return prior, self.features_of(episodes.query)
        return prior, model.embed(
            self.source.inputs(episodes.query), films if conditioned else None
        )

    def answer(
        self, episodes: Episodes, first: int, samples: int, seed: int, *, quasi: bool = False
    ) -> Prediction:
        """The predictive of every query of some tasks; `first` is the number of the first, for its noise."""
        prior, query = self.infer(episodes)
        noise = PredictiveNoise(seed, range(first, first + len(query)), quasi)
        return predict(self.model.classifier, prior, query, samples, noise)

    def check(self, protocol: Protocol) -> EpisodeSampler:
        """The protocol's tasks, or a complaint before any work is done."""
        return check_tasks(self.dataset, protocol, norm_modes(self.model))

    def inferred(self, protocol: Protocol, progress: Progress = silent) -> Iterator[InferredTasks]:
        """The protocol's tasks, some at a time; with several processes this one's share of them."""
        sampler = self.check(protocol)
        if self.fabric is not None and protocol.episodes <= BANK * (self.fabric.world_size - 1):
            raise RunError(
                f"{self.fabric.world_size} processes are too many for {protocol.episodes} tasks."
            )
        for first in self._share(range(0, protocol.episodes, BANK)):
            numbers = range(first, min(first + BANK, protocol.episodes))
            episodes = self._draw(sampler, protocol, numbers)
            labels = torch.tensor(episodes.query_labels, device=self.device)
            yield InferredTasks(numbers, episodes, labels, *self.infer(episodes))
            progress("tasks", numbers.stop / protocol.episodes)

    def predictions(
        self, tasks: InferredTasks, protocol: Protocol
    ) -> tuple[Prediction, Prediction]:
        """The predictive by the protocol's samples, and the answer at the mean."""
        noise = tasks.noise(protocol.seed, quasi=protocol.quasi)
        sampled = predict(self.model.classifier, tasks.prior, tasks.query, protocol.samples, noise)
        return sampled, predict_at_mean(self.model.classifier, tasks.prior, tasks.query)

    def answers(
        self, protocol: Protocol, ways: Predictors = both_ways, progress: Progress = silent
    ) -> dict[str, Outcomes]:
        """All answers to the protocol's tasks, by each way of predicting."""
        parts: dict[str, list[Outcomes]] = {}
        for tasks in self.inferred(protocol, progress):
            distance = None  # under episode norm it would take another look at every image
            if self._features is not None:
                plain = self.model.task_embedding is None
                query = tasks.query if plain else self.features_of(tasks.episodes.query)
                distance = cosine_distance(query, self.class_means(tasks.episodes))
            for name, prediction in ways(*self.predictions(tasks, protocol)).items():
                parts.setdefault(name, []).append(
                    Outcomes.of(prediction, tasks.labels, distance, tasks.episodes.classes)
                )

        def gather(_: str, array: np.ndarray) -> np.ndarray:
            return (
                self.gathered(torch.from_numpy(array).to(self.device), protocol.episodes)
                .cpu()
                .numpy()
            )

        joined = {name: Outcomes.joined(each) for name, each in parts.items()}
        return (
            joined
            if self.fabric is None
            else {name: each.each(gather) for name, each in joined.items()}
        )

    def _draw(self, sampler: EpisodeSampler, protocol: Protocol, numbers: range) -> Episodes:
        """Tasks, with queries from outside at the end where they are wanted."""
        episodes = sampler.draw(numbers.start, len(numbers))
        if not protocol.outside:
            return episodes
        others = draw_outside(
            self.dataset, episodes, numbers.start, protocol.outside, protocol.seed
        )
        query = np.concatenate([episodes.query, others], 1)
        labels = np.concatenate([episodes.query_labels, np.full(others.shape, OUTSIDE)], 1)
        return Episodes(episodes.classes, episodes.support, episodes.support_labels, query, labels)


def check_input(settings: ModelSettings, dataset: Dataset) -> None:
    """Refuse data that a model cannot take."""
    shape = tuple(dataset.store.facts["shape"])
    if settings.input_shape not in (None, shape):
        raise DataError(
            f"{dataset.store.name} has {shape} for each image, but the model expects {settings.input_shape}."
        )


def check_tasks(dataset: Dataset, protocol: Protocol, norms: set[str]) -> EpisodeSampler:
    """The tasks of a protocol on some data, or a complaint."""
    sampler = EpisodeSampler(dataset, protocol.tasks, protocol.seed)
    if protocol.outside and "episode" in norms:
        raise SettingsError(
            "Queries from outside would change the statistics of the others under episode norm. "
            "Use --norm running, or leave out --outside."
        )
    if protocol.outside and len(dataset) <= protocol.way:
        raise DataError(
            f"{dataset.description} has no class outside a task of {protocol.way}. Use a lower --way, or no --outside."
        )
    return sampler
