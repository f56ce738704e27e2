"""Accuracy over tasks, with its interval."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.batches import BatchSource
from samovar.config import EpisodeSettings
from samovar.data.augmentation import Normalisation
from samovar.data.dataset import Dataset
from samovar.data.episodes import Episodes, EpisodeSampler
from samovar.models.model import FewShotModel
from samovar.models.norm import norm_modes
from samovar.models.tasks import Sums
from samovar.predictive import Prediction, PredictiveNoise, predict
from samovar.progress import Progress, silent

CHUNK = 256
"""Images that are embedded at once: always as many, so that features do not depend on what else is evaluated."""
TASKS_AT_ONCE = 20


@dataclass(frozen=True)
class Accuracy:
    """Mean accuracy with the half-width of its 95 % interval over tasks, 1.96 std / sqrt(tasks); fractions."""

    mean: float
    ci95: float
    tasks: NDArray[np.float64]

    @classmethod
    def of(cls, tasks: NDArray[np.float64]) -> "Accuracy":
        """From the accuracy of each task."""
        spread = tasks.std(ddof=1) if len(tasks) > 1 else 0.0
        return cls(float(tasks.mean()), float(1.96 * spread / np.sqrt(len(tasks))), tasks)

    def __str__(self) -> str:
        return f"{100 * self.mean:.2f} ± {100 * self.ci95:.2f} %"


class TaskEvaluator:
    """Answers the tasks of a data set. Each image is embedded once where the model allows it."""

    def __init__(
        self, model: FewShotModel, dataset: Dataset, normalisation: Normalisation, device: torch.device
    ) -> None:
        self.model, self.device = model, device
        self.source = BatchSource(dataset, normalisation, device, seed=0)
        self.dataset = dataset
        once = "episode" not in norm_modes(model) and model.task_embedding is None
        self._features = self._embed_all() if once else None

    @torch.no_grad()
    def _embed_all(self) -> tuple[NDArray[np.int64], Tensor]:
        """Indices of all images of the split, sorted, and their features."""
        self.model.eval()
        spans = zip(self.dataset.starts, self.dataset.counts, strict=True)
        indices = np.sort(np.concatenate([start + np.arange(count) for start, count in spans]))
        chunks = np.split(indices, range(CHUNK, len(indices), CHUNK))
        return indices, torch.cat([self.model.embed(self.source.inputs(chunk[None]))[0] for chunk in chunks])

    def _lookup(self, wanted: NDArray[np.int64]) -> Tensor:
        assert self._features is not None
        indices, features = self._features
        return features[torch.from_numpy(np.searchsorted(indices, wanted)).to(features.device)]

    @torch.no_grad()
    def answer(self, episodes: Episodes, first: int, samples: int, seed: int) -> Prediction:
        """The predictive of every query of some tasks; `first` is the number of the first, for its noise."""
        model, way = self.model.eval(), episodes.classes.shape[1]
        labels = torch.tensor(episodes.support_labels, device=self.device)
        if self._features is not None:
            prior = model.prior(Sums.of(self._lookup(episodes.support), labels, way))
            query = self._lookup(episodes.query)
        else:
            prior, films = model.condition(self.source.inputs(episodes.support), labels, way)
            query = model.embed(self.source.inputs(episodes.query), films if model.classifier.deterministic else None)
        noise = PredictiveNoise(seed, range(first, first + len(labels)))
        return predict(model.classifier, prior, query, samples, noise)

    def accuracy(
        self, settings: EpisodeSettings, tasks: int, samples: int, seed: int, progress: Progress = silent
    ) -> Accuracy:
        """Accuracy over the first `tasks` tasks of a seed."""
        sampler = EpisodeSampler(self.dataset, settings, seed)
        found = []
        for first in range(0, tasks, TASKS_AT_ONCE):
            count = min(TASKS_AT_ONCE, tasks - first)
            episodes = sampler.draw(first, count)
            answers = self.answer(episodes, first, samples, seed).probabilities.argmax(-1).cpu().numpy()
            found.append((answers == episodes.query_labels).mean(1))
            progress("tasks", (first + count) / tasks)
        return Accuracy.of(np.concatenate(found))
