"""Runs a model on the tasks of a data set, embedding each image as seldom as the model allows.

Under running norm every image of the split is embedded once, and a task is then a matter of looking
up features. With TEN the support is embedded again for each task, since it is conditioned on the
task (TADAM: the queries too). Under episode norm all images of a task are embedded together,
because their features depend on their common statistics. With several processes each embeds and
predicts its share, and all have the whole in the end (`samovar.evaluation.distributed`).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from lightning_fabric import Fabric
from torch import Tensor

from samovar.data.batches import BatchSource
from samovar.data.dataset import Dataset, Indices
from samovar.data.episodes import Episodes, EpisodeSampler
from samovar.data.normalization import Normalization
from samovar.errors import DataError, SettingsError
from samovar.evaluation.distributed import Processes
from samovar.evaluation.fitted_rivals import energy_of
from samovar.evaluation.rivals import TaskFeatures
from samovar.evaluation.runner import DrawnTasks, Runner
from samovar.models.backbones.layers import norm_modes
from samovar.models.class_means import ClassMeans
from samovar.models.few_shot_model import Conditioned, FewShotModel
from samovar.models.inference import WeightDistribution
from samovar.models.task_embedding import Film
from samovar.prediction.calibrated import predict_calibrated
from samovar.prediction.calibration import Calibration, TaskCalibration
from samovar.prediction.learned_temperature import learned_temperature
from samovar.prediction.predictive import Prediction, predict, predict_at_mean
from samovar.prediction.rejection import COSINE_DISTANCE
from samovar.prediction.sampling_noise import PredictiveNoise
from samovar.prediction.smaller_tasks import SmallerTasks
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import Protocol

IMAGES_AT_ONCE = 256
"""Images that are embedded together. The number is fixed, so that the last bits of the features of
an image do not depend on what else is evaluated.
"""


@dataclass(frozen=True)
class InferredTasks(DrawnTasks):
    """A batch of a protocol's tasks with the prior over their classifiers.

    query: the features that are classified, (T, Q, d); support: class means of the support's plain
    features.
    """

    prior: WeightDistribution
    query: Tensor
    support: ClassMeans

    def noise(self, seed: int, *, quasi: bool = False) -> PredictiveNoise:
        """Return the noise of these tasks."""
        return PredictiveNoise(seed, self.numbers, quasi)


@dataclass(frozen=True)
class EmbeddedSplit:
    """The features (n, d) of all images of a split, and their sorted indices (n,)."""

    indices: Indices
    features: Tensor

    def at(self, indices: Indices) -> Tensor:
        """Return features (..., d) of the images at these indices (...)."""
        positions = torch.from_numpy(np.searchsorted(self.indices, indices))
        return self.features[positions.to(self.features.device)]


class TaskRunner(Runner[InferredTasks]):
    """Runs a model, which is put into evaluation mode, on tasks of a data set."""

    def __init__(
        self,
        model: FewShotModel,
        dataset: Dataset,
        normalization: Normalization,
        device: torch.device,
        fabric: Fabric | None = None,
        *,
        embed_split: bool = True,
    ) -> None:
        """Prepare to run; nothing is computed yet.

        With `embed_split` the whole split is embedded when features are first asked for, which pays
        from a few tasks on. Without it only the images of each task are.
        """
        self.model = model.eval()
        self.dataset = dataset
        self.device = device
        self.processes = Processes(fabric, device)
        self.source = BatchSource(dataset, normalization, device, seed=0)
        self.embeds_split = embed_split and "episode" not in norm_modes(model)
        self.calibration: Calibration | None = None
        """The model's own, which whoever has it sets."""

    @property
    def norms(self) -> set[str]:
        """The modes of the model's batch norms; empty if it has none."""
        return norm_modes(self.model)

    @cached_property
    def embedded(self) -> EmbeddedSplit:
        """The whole split, embedded once; under running norm only."""
        return self._embed_split()

    @torch.no_grad()
    def _embed_split(self) -> EmbeddedSplit:
        spans = zip(self.dataset.starts, self.dataset.counts, strict=True)
        indices = np.sort(np.concatenate([start + np.arange(count) for start, count in spans]))
        firsts = range(0, len(indices), IMAGES_AT_ONCE)
        # With fewer chunks than processes some would have nothing to share, so each embeds all.
        together = self.processes.count > 1 and len(firsts) >= self.processes.count
        if together:
            firsts = self.processes.share(firsts)
        chunks = []
        for first in firsts:
            inputs = self.source.inputs(indices[None, first : first + IMAGES_AT_ONCE])
            chunks.append(self.model.embed(inputs)[0])
        if not together:
            return EmbeddedSplit(indices, torch.cat(chunks))
        features = chunks[0].new_zeros(len(indices), chunks[0].shape[1])
        for first, chunk in zip(firsts, chunks, strict=True):
            features[first : first + IMAGES_AT_ONCE] = chunk
        return EmbeddedSplit(indices, self.processes.total(features))

    @torch.no_grad()
    def features(self, indices: Indices) -> Tensor:
        """Return unconditioned features (T, n, d) of images (T, n).

        Under episode norm they are normalised by the statistics of these n images.
        """
        if self.embeds_split:
            return self.embedded.at(indices)
        return self.model.embed(self.source.inputs(indices))

    def class_means(self, episodes: Episodes) -> ClassMeans:
        """Return the class means of the support's plain features."""
        labels = torch.tensor(episodes.support_labels, device=self.device)
        return ClassMeans.of(self.features(episodes.support), labels, episodes.classes.shape[1])

    @torch.no_grad()
    def condition(self, episodes: Episodes) -> Conditioned:
        """Condition tasks on their supports."""
        return self._condition(episodes, self.class_means(episodes))

    def _condition(self, episodes: Episodes, plain: ClassMeans) -> Conditioned:
        def embed_again(films: list[Film]) -> ClassMeans:
            labels = torch.tensor(episodes.support_labels, device=self.device)
            features = self.model.embed(self.source.inputs(episodes.support), films)
            return ClassMeans.of(features, labels, episodes.classes.shape[1])

        return self.model.condition(plain, embed_again)

    @torch.no_grad()
    def infer(self, episodes: Episodes, numbers: range) -> InferredTasks:
        """Infer the prior of some tasks; `numbers` are theirs in the protocol."""
        plain = self.class_means(episodes)
        conditioned = self._condition(episodes, plain)
        labels = torch.tensor(episodes.query_labels, device=self.device)
        query = self._query_features(episodes, conditioned)
        return InferredTasks(numbers, episodes, labels, conditioned.prior, query, plain)

    def _query_features(self, episodes: Episodes, conditioned: Conditioned) -> Tensor:
        if conditioned.query_films is None:
            return self.features(episodes.query)
        return self.model.embed(self.source.inputs(episodes.query), conditioned.query_films)

    def predict_sampled(self, tasks: InferredTasks, protocol: Protocol) -> Prediction:
        """Return the average over the protocol's number of sampled classifiers."""
        noise = tasks.noise(protocol.seed, quasi=protocol.quasi)
        classifier = self.model.classifier
        return predict(classifier, tasks.prior, tasks.query, protocol.samples, noise)

    def predict_at_mean(self, tasks: InferredTasks) -> Prediction:
        """Return the prediction of the classifier at the mean."""
        return predict_at_mean(self.model.classifier, tasks.prior, tasks.query)

    @torch.no_grad()
    def predict_calibrated(self, tasks: InferredTasks, protocol: Protocol) -> Prediction | None:
        """Return the prediction by the model's own calibration, as a user's images get it.

        None without one, and under episode norm: a calibration is that of running averages.
        """
        if self.calibration is None or not self.embeds_split:
            return None
        calibrations = []
        for position in range(len(tasks.numbers)):
            calibrations.append(self._task_calibration(self.calibration, tasks, position))
        noise = tasks.noise(protocol.seed, quasi=protocol.quasi)
        classifier = self.model.classifier
        return predict_calibrated(
            classifier, tasks.prior, tasks.query, protocol.samples, noise, calibrations
        )

    def _task_calibration(
        self, calibration: Calibration, tasks: InferredTasks, position: int
    ) -> TaskCalibration:
        smaller = self.smaller_tasks(tasks, position)
        weights = None
        if smaller is not None:
            weights = learned_temperature(calibration, smaller, self.model)
        counts = tasks.support.counts[position]
        return calibration.of_task(len(counts), float(counts.mean()), weights)

    def smaller_tasks(self, tasks: InferredTasks, position: int) -> SmallerTasks | None:
        """Return one of the tasks with one image less of each class, in turns.

        None where nothing can be left out, and with TEN, where the features of all other images
        would change too.
        """
        if self.model.task_embedding is not None:
            return None
        episodes = tasks.episodes
        return SmallerTasks.of(
            tasks.support.totals[position].cpu(),
            tasks.support.counts[position].long().cpu(),
            self.features(episodes.support[position : position + 1])[0],
            torch.tensor(episodes.support_labels[position]),
        )

    def predict_task(self, protocol: Protocol, number: int) -> tuple[Episodes, Prediction]:
        """Draw one task of a protocol and predict its queries."""
        sampler = EpisodeSampler(self.dataset, protocol.tasks, protocol.seed)
        episodes = sampler.draw(number, 1)
        tasks = self.infer(episodes, range(number, number + 1))
        return episodes, self.predict_sampled(tasks, protocol)

    def distance(self, tasks: InferredTasks) -> Tensor | None:
        """Return how far each query is from the nearest class, in unconditioned features.

        None under episode norm, where it would take another look at every image.
        """
        if not self.embeds_split:
            return None
        query = tasks.query
        if self.model.task_embedding is not None:  # TADAM's are conditioned
            query = self.features(tasks.episodes.query)
        return COSINE_DISTANCE(query, tasks.support.means)

    @torch.no_grad()
    def energy(self, tasks: InferredTasks) -> Tensor:
        """Return the energy of the classifier at the mean for each query, (T, Q)."""
        return energy_of(self.model.classifier.mean_logits(tasks.query, tasks.prior))

    def task_features(self, episodes: Episodes) -> TaskFeatures:
        """Return the plain features of tasks: frozen, and never conditioned by TEN."""
        return TaskFeatures.of(
            self.features(episodes.support),
            torch.tensor(episodes.support_labels),
            self.features(episodes.query),
            episodes.classes.shape[1],
        )


def check_input(settings: ModelSettings, dataset: Dataset) -> None:
    """Refuse data that a model cannot take."""
    shape = tuple(dataset.store.facts["shape"])
    if settings.input_shape not in (None, shape):
        raise DataError(
            f"{dataset.store.name} has {shape} for each image, but the model expects "
            f"{settings.input_shape}."
        )


def check_tasks(dataset: Dataset, protocol: Protocol, norms: set[str]) -> None:
    """Refuse a protocol that the data or the model's batch norm does not allow."""
    EpisodeSampler(dataset, protocol.tasks, protocol.seed)  # complains about classes and images
    if protocol.outside and "episode" in norms:
        raise SettingsError(
            "Under episode norm, queries from outside would change the statistics of the others. "
            "Use --norm running, or leave out --outside."
        )
    if protocol.outside and len(dataset) <= protocol.way:
        raise DataError(
            f"{dataset.description} has no class outside a task of {protocol.way}. "
            "Use a lower --way, or leave out --outside."
        )
