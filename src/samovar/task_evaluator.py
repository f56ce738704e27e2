"""Answers the tasks of a data set by a model, each image embedded as seldom as the model allows."""

from collections.abc import Callable

import numpy as np
import torch
from lightning_fabric import Fabric
from torch import Tensor

from samovar.answers import OUTSIDE, Answers
from samovar.batches import BatchSource
from samovar.config import Protocol
from samovar.data.augmentation import Normalisation
from samovar.data.dataset import Dataset, Indices
from samovar.data.episodes import Episodes, EpisodeSampler, draw_outside
from samovar.errors import DataError, RunError, SettingsError
from samovar.models.inference import WeightDistribution
from samovar.models.model import FewShotModel
from samovar.models.norm import norm_modes
from samovar.models.tasks import Sums
from samovar.predictive import Prediction, predict, predict_at_mean
from samovar.predictive_noise import BANK, PredictiveNoise
from samovar.progress import Progress, silent

CHUNK = 256
"""Images that are embedded at once: always as many, so that features do not depend on what else is evaluated."""

WaysOfPredicting = Callable[[Prediction, Prediction], dict[str, Prediction]]
"""From the predictive and the answer at the mean to all predictions that are wanted, by name."""


def both_ways(sampled: Prediction, at_mean: Prediction) -> dict[str, Prediction]:
    """The predictive and the classifier at the mean."""
    return {"predictive": sampled, "mean_classifier": at_mean}


class TaskEvaluator:
    """Answers tasks.

    Under running norm every image is embedded once, when the evaluator is made. With TEN the support is embedded again
    for each task, since it is conditioned on it (TADAM: the queries too). Under episode norm all images of a task are.
    With several processes each embeds and answers its share, and all have the whole in the end.
    """

    def __init__(
        self,
        model: FewShotModel,
        dataset: Dataset,
        normalisation: Normalisation,
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
        parts = [self.model.embed(self.source.inputs(indices[None, each : each + CHUNK]))[0] for each in own]
        if not together:
            return indices, torch.cat(parts)
        features = parts[0].new_zeros(len(indices), parts[0].shape[1])
        for first, part in zip(own, parts, strict=True):
            features[first : first + CHUNK] = part
        return indices, self._combined(features)

    def _share(self, work: range) -> range:
        """This process's part of the work, in steps that are never cut."""
        return work if self.fabric is None else work[self.fabric.global_rank :: self.fabric.world_size]

    def _combined(self, values: Tensor) -> Tensor:
        """What all processes have found; each has zeros where others worked."""
        if self.fabric is None:
            return values
        combined = self.fabric.all_reduce(values, reduce_op="sum")
        assert isinstance(combined, Tensor)
        return combined

    def features_of(self, wanted: Indices) -> Tensor:
        """Features (..., d) of images at these indices, where each image is embedded once."""
        assert self._features is not None
        indices, features = self._features
        return features[torch.from_numpy(np.searchsorted(indices, wanted)).to(features.device)]

    @property
    def embeds_once(self) -> bool:
        """Whether the features of an image do not depend on its task (running norm; with TEN, its plain features)."""
        return self._features is not None

    @torch.no_grad()
    def infer(self, episodes: Episodes) -> tuple[WeightDistribution, Tensor]:
        """The prior over the classifier of some tasks, and the features of their queries."""
        model, way = self.model, episodes.classes.shape[1]
        labels = torch.tensor(episodes.support_labels, device=self.device)
        if self._features is None:
            prior, films = model.condition(self.source.inputs(episodes.support), labels, way)
        else:
            sums = Sums.of(self.features_of(episodes.support), labels, way)
            films = model.films(sums)
            if films is not None:
                sums = Sums.of(model.embed(self.source.inputs(episodes.support), films), labels, way)
            prior = model.prior(sums)
        conditioned = films is not None and model.classifier.deterministic  # TADAM classifies conditioned features
        if self._features is not None and not conditioned:
            return prior, self.features_of(episodes.query)
        return prior, model.embed(self.source.inputs(episodes.query), films if conditioned else None)

    def answer(self, episodes: Episodes, first: int, samples: int, seed: int, *, quasi: bool = False) -> Prediction:
        """The predictive of every query of some tasks; `first` is the number of the first, for its noise."""
        prior, query = self.infer(episodes)
        noise = PredictiveNoise(seed, range(first, first + len(query)), quasi)
        return predict(self.model.classifier, prior, query, samples, noise)

    def check(self, protocol: Protocol) -> EpisodeSampler:
        """The protocol's tasks, or a complaint before any work is done."""
        return check_tasks(self.dataset, protocol, norm_modes(self.model))

    def answers(
        self, protocol: Protocol, ways: WaysOfPredicting = both_ways, progress: Progress = silent
    ) -> dict[str, Answers]:
        """All answers to the protocol's tasks, by each way of predicting."""
        sampler = self.check(protocol)
        if self.fabric is not None and protocol.episodes <= BANK * (self.fabric.world_size - 1):
            raise RunError(f"{self.fabric.world_size} processes are too many for {protocol.episodes} tasks.")
        parts: dict[str, list[Answers]] = {}
        numbers: list[range] = []
        for first in self._share(range(0, protocol.episodes, BANK)):
            numbers.append(range(first, min(first + BANK, protocol.episodes)))
            episodes, labels = self._draw(sampler, protocol, numbers[-1])
            prior, query = self.infer(episodes)
            noise = PredictiveNoise(protocol.seed, numbers[-1], protocol.quasi)
            sampled = predict(self.model.classifier, prior, query, protocol.samples, noise)
            at_mean = predict_at_mean(self.model.classifier, prior, query)
            for name, prediction in ways(sampled, at_mean).items():
                parts.setdefault(name, []).append(Answers.of(prediction, labels))
            progress("tasks", numbers[-1].stop / protocol.episodes)
        joined = {name: Answers.joined(each) for name, each in parts.items()}
        if self.fabric is None:
            return joined
        return {name: self._gathered(each, numbers, protocol.episodes) for name, each in joined.items()}

    def _draw(self, sampler: EpisodeSampler, protocol: Protocol, numbers: range) -> tuple[Episodes, Tensor]:
        """Tasks and the labels of their queries, with queries from outside at the end where they are wanted."""
        episodes = sampler.draw(numbers.start, len(numbers))
        if protocol.outside:
            others = draw_outside(self.dataset, episodes, numbers.start, protocol.outside, protocol.seed)
            query = np.concatenate([episodes.query, others], 1)
            labels = np.concatenate([episodes.query_labels, np.full(others.shape, OUTSIDE)], 1)
            episodes = Episodes(episodes.classes, episodes.support, episodes.support_labels, query, labels)
        return episodes, torch.tensor(episodes.query_labels, device=self.device)

    def _gathered(self, own: Answers, numbers: list[range], tasks: int) -> Answers:
        """All tasks in order, from what each process answered."""
        rows = np.concatenate([np.arange(each.start, each.stop) for each in numbers])

        def gather(_: str, array: np.ndarray) -> np.ndarray:
            whole = np.zeros((tasks, *array.shape[1:]), array.dtype)
            whole[rows] = array
            return self._combined(torch.from_numpy(whole).to(self.device)).cpu().numpy()

        return own.each(gather)


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
