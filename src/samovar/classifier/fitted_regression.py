"""A regression that is fitted to one task: the sibling of `FittedModel` for models like `photos`.

It takes the encoder's vectors instead of converted images and has the same methods. All vectors of
the support are kept, also in task files, so that a loaded task can do all that a new one can.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samovar.artifacts.saved_regression import SavedRegression
from samovar.classifier.answer import (
    Answer,
    AnswerParameters,
    answer_of,
    thresholds_of,
)
from samovar.classifier.fitted_task import check_images
from samovar.classifier.known_scores import KnownScores
from samovar.classifier.labels import listed_labels
from samovar.classifier.leave_one_out import LeaveOneOut, mistakes
from samovar.classifier.regression_task import RegressionTask
from samovar.models.closed_form import Moments, Regression
from samovar.prediction.predictive import Prediction
from samovar.prediction.regression import (
    able_to_be_left_out,
    left_out_level,
    left_out_rejection_scores,
    predict_left_out,
    predict_regression,
    rejection_score,
)
from samovar.prediction.rejection import describe_rejection
from samovar.prediction.sampling_noise import PredictiveNoise


@dataclass(frozen=True)
class FittedRegression:
    """A regression with the task that it is fitted to."""

    saved: SavedRegression
    task: RegressionTask

    spread: None = None
    """Task files of other models keep one; here it follows from the vectors."""
    held_out: KnownScores | None = None
    """The scores of held-out images; a task that grows loses them."""

    distance = "log variance - 2 x the largest score"
    """What the answers' distances are, in words."""

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, in the order of the probabilities."""
        return listed_labels(self.task.classes)

    @cached_property
    def regression(self) -> Regression:
        """p(w | D), with the posterior of the temperature."""
        with torch.no_grad():
            task = self.task
            return self.saved.model.infer(task.vectors, task.numbers, len(task.classes))

    def extended(self, inputs: list[Tensor], labels: list[Any]) -> "FittedRegression":
        """Return the model fitted to more images, or to whole new classes besides the old ones."""
        return FittedRegression(self.saved, self.task | _task_of(inputs, labels))

    def predict(self, inputs: list[Tensor], parameters: AnswerParameters) -> Prediction:
        """Return the predictive of images by their vectors, (1, n, classes)."""
        return self._predict(self._moments(inputs), parameters)

    def answer(self, inputs: list[Tensor], parameters: AnswerParameters) -> Answer:
        """Return everything about images."""
        moments = self._moments(inputs)
        prediction = self._predict(moments, parameters)
        distance = rejection_score(moments).numpy()
        threshold = None
        if parameters.reject is not None:
            threshold = self.threshold(parameters.reject)
        return answer_of(self.classes, prediction, distance, threshold, parameters.reject_label)

    @torch.no_grad()
    def _moments(self, inputs: list[Tensor]) -> Moments:
        return self.regression.moments(self.stacked(inputs))

    def stacked(self, inputs: list[Tensor]) -> Tensor:
        """Return the vectors of images as a matrix (n, d), also of no images."""
        if not inputs:
            return self.task.vectors[:0]
        return torch.stack(inputs)

    def _predict(self, moments: Moments, parameters: AnswerParameters) -> Prediction:
        noise = PredictiveNoise(parameters.seed, [0], quasi=True)
        return predict_regression(self.regression, moments, int(parameters.samples), noise)

    @cached_property
    def _left_out_scores(self) -> NDArray[np.float64]:
        """How little each support image that can be left out belongs to the others."""
        with torch.no_grad():
            return left_out_rejection_scores(self.regression).numpy()

    @cached_property
    def _left_out_level(self) -> float | None:
        with torch.no_grad():
            return left_out_level(self.regression)

    def threshold(self, reject: float) -> float:
        """Return the distance above which images are rejected, at this rate of mistakes."""
        table = thresholds_of(self.saved.rejection)
        way = len(self.task.classes)
        return table.threshold(way, self.task.counts.numpy(), reject, self._left_out_level)

    def rejection_note(self, reject: float | None) -> str:
        """Explain in a sentence what a rate of rejection means for this task."""
        if reject is None:
            return "nothing is rejected (reject=None)"
        table = thresholds_of(self.saved.rejection)
        way = len(self.task.classes)
        note = describe_rejection(table, reject, way, self.task.counts.numpy())
        if self._left_out_level is not None:
            note += "; the threshold is adapted to these images"
        return note

    def leave_one_out(self, parameters: AnswerParameters) -> LeaveOneOut | None:
        """Answer support images by the others; None where no class has two."""
        with torch.no_grad():
            able = able_to_be_left_out(self.regression)
            if not able.any():
                return None
            answers = self.regression.left_out_moments().scores.argmax(1)
        right = (answers == self.task.numbers)[able]
        positions = torch.nonzero(able).flatten()
        numbers = self.task.numbers[positions]
        wrong = mistakes(self.task.classes, positions.tolist(), numbers, answers[positions])
        rejected = None
        if parameters.reject is not None:
            beyond = self._left_out_scores > self.threshold(parameters.reject)
            rejected = float(np.mean(beyond))
        return LeaveOneOut(len(right), float(right.double().mean()), rejected, wrong)

    @torch.no_grad()
    def judged_by(self, kept: Tensor, parameters: AnswerParameters) -> Tensor:
        """Return the class probabilities (n, N) of the support by some of its images.

        Args:
            kept: Whether each image has a say, (n,); each class must have one that has. An image
                that has is judged without itself.
            parameters: How images are answered.
        """
        task = self.task
        way = len(task.classes)
        regression = self.saved.model.infer(task.vectors[kept], task.numbers[kept], way)
        noise = PredictiveNoise(parameters.seed, [0], quasi=True)
        samples = int(parameters.samples)
        result = torch.zeros(len(kept), way)
        left_out = predict_left_out(regression, samples, noise)
        result[kept] = left_out.probabilities[0]
        if not kept.all():
            moments = regression.moments(task.vectors[~kept])
            others = predict_regression(regression, moments, samples, noise)
            result[~kept] = others.probabilities[0]
        return result


def fit_regression(
    saved: SavedRegression, inputs: list[Tensor], labels: list[Any]
) -> FittedRegression:
    """Fit a regression to the encoder's vectors (d,) of images, with a label for each."""
    return FittedRegression(saved, _task_of(inputs, labels))


def _task_of(inputs: list[Tensor], labels: list[Any]) -> RegressionTask:
    check_images(inputs, labels)
    return RegressionTask.of(torch.stack(inputs), labels)
