"""A model that is fitted to one task.

`FewShotClassifier` holds one, and the command line uses it directly. `fit_model` fits a model to
images that are converted already, `FittedModel.extended` adds images, and `FittedModel.answer`
answers others. A fitted model never changes: each step returns a new one, so that a step that fails
leaves what was fitted before as it was. Importing this file does not import scikit-learn, which
takes a second.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.artifacts.saved_model import SavedModel
from samovar.classifier.answer import (
    Answer,
    AnswerParameters,
    answer_of,
    thresholds_of,
)
from samovar.classifier.fitted_task import FittedTask, check_images, class_numbers
from samovar.classifier.known_scores import KnownScores
from samovar.classifier.labels import listed_labels
from samovar.classifier.leave_one_out import LeaveOneOut, mistakes
from samovar.errors import ModelError
from samovar.models.class_means import ClassMeans
from samovar.models.few_shot_model import Conditioned, FewShotModel
from samovar.prediction.calibration import Calibration, TaskCalibration
from samovar.prediction.learned_temperature import learned_temperature
from samovar.prediction.left_out_support import MOST_LEFT_OUT, LeftOutSupport
from samovar.prediction.predictive import Prediction
from samovar.prediction.rejection import (
    COSINE_DISTANCE,
    RejectionScore,
    describe_rejection,
    threshold_factor,
)
from samovar.prediction.smaller_tasks import SmallerTasks
from samovar.prediction.task import (
    Embedder,
    class_means,
    infer_task,
    predict_queries,
    rejection_scores,
    task_films,
)


class Support(NamedTuple):
    """The support images, which a loaded task no longer has."""

    features: Tensor
    """Their plain features (n, d)."""
    labels: list[Any]
    inputs: list[Tensor] | None
    """The images, for models with TEN only, which embed them again when the task grows."""


@dataclass(frozen=True)
class FittedModel:
    """A model with the task that it is fitted to."""

    saved: SavedModel
    embed: Embedder
    task: FittedTask
    conditioned: Conditioned
    """p(w | D), and TEN's conditioning where the model has it."""
    support: Support | None
    spread: float | None
    """How far the support images lie from each other, relative to the measured tasks.

    Rejection thresholds are scaled by it (`threshold_factor`).
    """
    temperature: tuple[float, ...] | None = None
    """What left-out support images say of the task's own temperature: weights of a grid.

    None where nothing could be left out, and for models without a calibration.
    """

    held_out: KnownScores | None = None
    """The scores of held-out images; a task that grows loses them."""
    stored_scores: KnownScores | None = None
    """The scores of left-out support images, of a task that was read from a file."""

    distance = "1 - the cosine to the nearest class mean"
    """What the answers' distances are, in words."""

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, in the order of the probabilities."""
        return listed_labels(self.task.classes)

    def extended(self, inputs: list[Tensor], labels: list[Any]) -> "FittedModel":
        """Return the model fitted to more images, or to whole new classes besides the old ones."""
        has_task_embedding = self.saved.model.task_embedding is not None
        if has_task_embedding and self.support is None:
            raise ModelError(
                "This model conditions its features on all support images (TEN), and a loaded "
                "task no longer has them. Fit again with all images."
            )
        check_images(inputs, labels)
        features = self.embed(inputs)
        task = self.task.without_conditioning() | FittedTask.of(features, labels)
        if self.support is None:  # the spread stays as it was saved: its images are gone
            return restored(self.saved, self.embed.device, task, self.spread, self.temperature)
        kept = None
        if self.support.inputs is not None:
            kept = [*self.support.inputs, *inputs]
        support = Support(
            torch.cat([self.support.features, features]), [*self.support.labels, *labels], kept
        )
        return _assembled(self.saved, self.embed, task, support)

    def predict(self, inputs: list[Tensor], parameters: AnswerParameters) -> Prediction:
        """Return the predictive of images, (1, n, classes)."""
        features = self.embed(inputs, self.conditioned.query_films)
        return self._predict(features, parameters)

    def answer(self, inputs: list[Tensor], parameters: AnswerParameters) -> Answer:
        """Return everything about images."""
        plain = self.embed(inputs)
        # Distances are those of plain features; TADAM with TEN classifies conditioned ones.
        classified = plain
        if self.conditioned.query_films is not None:
            classified = self.embed(inputs, self.conditioned.query_films)
        prediction = self._predict(classified, parameters)
        means = _plain_means(self.task, self.embed.device)
        distance = rejection_scores(self._score, plain, means).cpu().double().numpy()
        threshold = None
        if parameters.reject is not None:
            threshold = self.threshold(parameters.reject)
        return answer_of(self.classes, prediction, distance, threshold, parameters.reject_label)

    @property
    def _score(self) -> RejectionScore:
        return _score_of(self.saved)

    def _predict(self, features: Tensor, parameters: AnswerParameters) -> Prediction:
        return predict_queries(
            self.saved.model,
            self.conditioned.prior,
            features,
            int(parameters.samples),
            parameters.seed,
            self.calibration,
        )

    @property
    def calibration(self) -> TaskCalibration | None:
        """The calibration of this task; None for models that have none."""
        if self.saved.calibration is None:
            return None
        weights = None
        if self.temperature is not None:
            weights = torch.tensor(self.temperature, dtype=torch.float64)
        counts = self.task.counts
        return self.saved.calibration.of_task(len(counts), float(counts.double().mean()), weights)

    def threshold(self, reject: float) -> float:
        """Return the distance above which images are rejected, at this rate of mistakes."""
        thresholds = thresholds_of(self.saved.rejection)
        way = len(self.task.classes)
        distance, _ = thresholds.threshold(way, self.task.counts.numpy(), reject)
        return distance * threshold_factor(self.spread)

    def rejection_note(self, reject: float | None) -> str:
        """Explain in a sentence what a rate of rejection means for this task."""
        if reject is None:
            return "nothing is rejected (reject=None)"
        thresholds = thresholds_of(self.saved.rejection)
        way = len(self.task.classes)
        counts = self.task.counts.numpy()
        factor = threshold_factor(self.spread)
        return describe_rejection(thresholds, reject, way, counts, factor)

    def leave_one_out(self, parameters: AnswerParameters) -> LeaveOneOut | None:
        """Classify each support image by the others; None where that cannot be done."""
        # With TEN the features of all other images would change too.
        if self.support is None or self.saved.model.task_embedding is not None:
            return None
        left_out = _left_out(self.task, self.support)
        if left_out is None:
            return None
        prior = self.conditioned.prior
        samples = int(parameters.samples)
        probabilities = left_out.probabilities(
            self.saved.model, prior, samples, parameters.seed, self.calibration
        )
        answers = probabilities.argmax(1)
        wrong = mistakes(self.task.classes, left_out.positions, left_out.numbers, answers)
        images = len(left_out.numbers)
        rejected = None
        if parameters.reject is not None:
            scores = left_out.scores(self._score)
            rejected = float(np.mean(scores > self.threshold(parameters.reject)))
        accuracy = float(np.mean((answers == left_out.numbers).numpy()))
        classes = range(len(self.task.classes))
        known = KnownScores.of(probabilities.numpy(), left_out.numbers.tolist(), classes)
        return LeaveOneOut(images, accuracy, rejected, wrong, known)

    def judged_by(self, kept: Tensor, parameters: AnswerParameters) -> Tensor:
        """Return the class probabilities (n, N) of the support by some of its images.

        Args:
            kept: Whether each image has a say, (n,); each class must have one that has. An image
                that has is judged without itself, where its class has another.
            parameters: How images are answered.
        """
        assert self.support is not None
        positions = torch.nonzero(kept).flatten().tolist()
        labels = [self.support.labels[position] for position in positions]
        features = self.support.features[kept.to(self.support.features.device)]
        task = FittedTask.of(features, labels)
        rest = restored(self.saved, self.embed.device, task, None, self.temperature)
        result = rest._predict(self.support.features, parameters).probabilities[0].cpu()
        left_out = _left_out(task, Support(features, labels, None), most=len(labels))
        if left_out is not None:
            prior = rest.conditioned.prior
            samples = int(parameters.samples)
            without = left_out.probabilities(
                self.saved.model, prior, samples, parameters.seed, rest.calibration
            )
            result[torch.tensor(positions)[list(left_out.positions)]] = without.float()
        return result


def fit_model(
    saved: SavedModel, device: torch.device, inputs: list[Tensor], labels: list[Any]
) -> FittedModel:
    """Fit a model that is ready on a device to images that are converted already.

    Args:
        saved: As `ready_model` returns it.
        device: The device it is on.
        inputs: Images (H, W, C) uint8 as `saved.conversion` makes them, or feature vectors (d,).
        labels: One for each.
    """
    check_images(inputs, labels)
    embed = Embedder(saved.model, saved.normalisation, device)
    features = embed(inputs)
    kept = None
    if saved.model.task_embedding is not None:
        kept = inputs
    support = Support(features, labels, kept)
    return _assembled(saved, embed, FittedTask.of(features, labels), support)


def restored(
    saved: SavedModel,
    device: torch.device,
    task: FittedTask,
    spread: float | None,
    temperature: tuple[float, ...] | None = None,
) -> FittedModel:
    """Return the fitted model of a stored task, whose support images are gone."""
    embed = Embedder(saved.model, saved.normalisation, device)
    plain = _plain_means(task, device)
    conditioned = infer_task(saved.model, plain, _conditioned_means(task, device))
    return FittedModel(saved, embed, task, conditioned, None, spread, temperature)


def _assembled(
    saved: SavedModel, embed: Embedder, task: FittedTask, support: Support
) -> FittedModel:
    """Condition a task on its support where the model has TEN, and infer what follows from it."""
    plain = _plain_means(task, embed.device)
    if support.inputs is not None:  # kept for models with TEN only
        again = embed(support.inputs, task_films(saved.model, plain))
        task = replace(task, conditioned=FittedTask.of(again, support.labels).totals)
    conditioned = infer_task(saved.model, plain, _conditioned_means(task, embed.device))
    left_out = _left_out(task, support)
    spread = None
    if left_out is not None and saved.rejection is not None:
        spread = left_out.spread(saved.rejection)
    temperature = None
    if saved.calibration is not None and support.inputs is None:
        temperature = _temperature(saved.model, saved.calibration, task, support)
    return FittedModel(saved, embed, task, conditioned, support, spread, temperature)


def _temperature(
    model: FewShotModel, calibration: Calibration, task: FittedTask, support: Support
) -> tuple[float, ...] | None:
    """Return what left-out images say of the task's temperature; None if none can be left out."""
    numbers = class_numbers(task.classes, support.labels)
    smaller = SmallerTasks.of(task.totals, task.counts, support.features, numbers)
    if smaller is None:
        return None
    return tuple(learned_temperature(calibration, smaller, model).tolist())


def _left_out(
    task: FittedTask, support: Support, most: int = MOST_LEFT_OUT
) -> LeftOutSupport | None:
    numbers = class_numbers(task.classes, support.labels)
    return LeftOutSupport.of(task.totals, task.counts, support.features, numbers, most)


def _score_of(saved: SavedModel) -> RejectionScore:
    """Return the score that the model's thresholds are of, or the usual one without thresholds."""
    if saved.rejection is None:
        return COSINE_DISTANCE
    return saved.rejection.score


def _plain_means(task: FittedTask, device: torch.device) -> ClassMeans:
    return class_means(task.totals, task.counts, device)


def _conditioned_means(task: FittedTask, device: torch.device) -> ClassMeans | None:
    if task.conditioned is None:
        return None
    return class_means(task.conditioned, task.counts, device)
