"""Figures of a model over many tasks, with their intervals."""

import copy
import io
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.batches import BatchSource
from samovar.calibration import TaskFigures, calibration, mean_with_interval
from samovar.config import Protocol
from samovar.data.augmentation import Normalisation
from samovar.data.dataset import Dataset
from samovar.data.episodes import Episodes, EpisodeSampler
from samovar.data.prepare import ready
from samovar.errors import DataError
from samovar.model_folder import SavedModel
from samovar.models.inference import WeightDistribution
from samovar.models.model import FewShotModel
from samovar.models.norm import norm_modes, set_norm
from samovar.models.tasks import Sums
from samovar.predictive import Prediction, PredictiveNoise, predict, predict_at_mean
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
        return cls(**mean_with_interval(tasks), tasks=tasks)

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
    def infer(self, episodes: Episodes) -> tuple[WeightDistribution, Tensor]:
        """The prior over the classifier of some tasks, and the features of their queries."""
        model, way = self.model.eval(), episodes.classes.shape[1]
        labels = torch.tensor(episodes.support_labels, device=self.device)
        if self._features is not None:
            prior = model.prior(Sums.of(self._lookup(episodes.support), labels, way))
            return prior, self._lookup(episodes.query)
        prior, films = model.condition(self.source.inputs(episodes.support), labels, way)
        query = model.embed(self.source.inputs(episodes.query), films if model.classifier.deterministic else None)
        return prior, query

    def answer(self, episodes: Episodes, first: int, samples: int, seed: int) -> Prediction:
        """The predictive of every query of some tasks; `first` is the number of the first, for its noise."""
        prior, query = self.infer(episodes)
        noise = PredictiveNoise(seed, range(first, first + len(query)))
        return predict(self.model.classifier, prior, query, samples, noise)

    def figures(self, protocol: Protocol, progress: Progress = silent) -> dict[str, TaskFigures]:
        """Figures of each task, by the predictive and by the classifier at the mean."""
        sampler = EpisodeSampler(self.dataset, protocol.tasks, protocol.seed)
        parts: dict[str, list[TaskFigures]] = {"predictive": [], "mean_classifier": []}
        for first in range(0, protocol.episodes, TASKS_AT_ONCE):
            count = min(TASKS_AT_ONCE, protocol.episodes - first)
            episodes = sampler.draw(first, count)
            prior, query = self.infer(episodes)
            labels = torch.tensor(episodes.query_labels, device=self.device)
            noise = PredictiveNoise(protocol.seed, range(first, first + count))
            sampled = predict(self.model.classifier, prior, query, protocol.samples, noise)
            at_mean = predict_at_mean(self.model.classifier, prior, query)
            for name, prediction in zip(parts, (sampled, at_mean), strict=True):
                parts[name].append(TaskFigures.of(prediction.probabilities, labels))
            progress("tasks", (first + count) / protocol.episodes)
        return {name: TaskFigures.joined(each) for name, each in parts.items()}

    def accuracy(self, protocol: Protocol, progress: Progress = silent) -> Accuracy:
        """Accuracy of the predictive."""
        return Accuracy.of(self.figures(protocol, progress)["predictive"].accuracy)


@dataclass(frozen=True)
class Evaluation:
    """Figures of a model under a protocol: `summary` is what evaluation.json holds, `tasks` has a row for each task."""

    summary: dict[str, Any]
    tasks: dict[str, TaskFigures]

    def tasks_file(self) -> bytes:
        """An npz file with the figures of each task."""
        arrays = {f"{kind}_{name}": value for kind, each in self.tasks.items() for name, value in vars(each).items()}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        return buffer.getvalue()


def evaluate(
    saved: SavedModel,
    protocol: Protocol,
    dataset: Dataset | None = None,
    device: torch.device | str = "cpu",
    progress: Progress = silent,
) -> Evaluation:
    """Evaluate a model on tasks of a data set (by default the one it was trained on).

    Accuracy, NLL and Brier score have 95 % intervals over tasks, the calibration error one by bootstrap over tasks.
    """
    dataset = dataset or training_dataset(saved, protocol.split)
    model = copy.deepcopy(saved.model).to(device)
    if protocol.norm != "as trained":
        set_norm(model, protocol.norm)
    EpisodeSampler(dataset, protocol.tasks, protocol.seed)  # complains before any work is done
    tasks = TaskEvaluator(model, dataset, saved.normalisation, torch.device(device)).figures(protocol, progress)
    norm = "/".join(sorted(norm_modes(model))) or "none"
    figures = {name: _summary(each, protocol.seed) for name, each in tasks.items()}
    summary = {
        "format": 1,
        "protocol": asdict(protocol) | {"norm": norm, "text": f"{protocol}, {norm} norm"},
        "model": asdict(saved.model.settings),
        "data": dataset.description,
        "episodes": protocol.episodes,
        **figures["predictive"],
        "mean_classifier": figures["mean_classifier"],
    }
    return Evaluation(summary, tasks)


def _summary(figures: TaskFigures, seed: int) -> dict[str, Any]:
    means = {name: mean_with_interval(getattr(figures, name)) for name in ("accuracy", "nll", "brier")}
    return means | {"ece": calibration(figures, seed)}


def training_dataset(saved: SavedModel, split: str) -> Dataset:
    """The data that a model was trained on, another part of it."""
    if "settings" not in saved.training:
        raise DataError("This model does not say what it was trained on; name the data to evaluate on.")
    data = saved.training["settings"]["data"]
    return Dataset(ready(data["name"]), split, scheme=data["scheme"], rotations=data["rotations"])
