"""The scikit-learn face: fit on a few labelled images, predict with honest probabilities, or say "none of these"."""

import copy
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from samovar.artifacts.locate import locate_model, shipped_models
from samovar.artifacts.saved_model import SavedModel, load_model
from samovar.classifier.fitted_task import FittedTask
from samovar.classifier.labels import alike, label_array, listed_labels
from samovar.classifier.task_file import TaskInfo, read_task, write_task
from samovar.classifier.task_model import TaskModel
from samovar.core.devices import device_named
from samovar.data.images.user_images import labelled_folder, network_images
from samovar.errors import DataError, ModelError, SettingsError
from samovar.models.backbones.layers import TaskBatchNorm, set_norm
from samovar.models.few_shot_model import channels_last
from samovar.prediction.predictive import Prediction
from samovar.prediction.rejection import (
    Rejection,
    check_rejection_rate,
    describe_rejection,
    threshold_factor,
)
from samovar.settings.tasks import MOST_SAMPLES

MOST_LEFT_OUT = 200
"""Support images that leave-one-out looks at, at most."""


class Uncertainty(NamedTuple):
    """In nats, one for each image: of the predictive, and between label and classifier (None if deterministic)."""

    entropy: NDArray[np.float64]
    mutual_information: NDArray[np.float64] | None


class Answer(NamedTuple):
    """Labels (with `reject_label` where rejected), probabilities (n, classes), uncertainty, which were rejected.

    distance: 1 - the cosine to the nearest class mean, by which images are rejected.
    """

    labels: NDArray[Any]
    probabilities: NDArray[np.float64]
    uncertainty: Uncertainty
    rejected: NDArray[np.bool_]
    distance: NDArray[np.float64]


class FewShotClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Turns a few labelled images into a classifier with calibrated probabilities. Nothing is trained in `fit`.

    Images are paths, PIL images, arrays (H, W) or (H, W, C), uint8 or float from 0 to 1, or torch tensors; of any size,
    grey or colour: they are converted as the model's own were. For models of ready-made features they are rows of a
    matrix. A folder of class folders can be given to `fit` without labels.

    Args:
        model: a shipped model ("glyphs"), a model folder, a run folder, or a SavedModel
        samples: classifiers that are averaged, quasi-random
        device: "cpu", "cuda", "mps", or "auto"
        reject: answer `reject_label` where an image is too far from all classes; the share of images that do belong to
            the classes and are rejected all the same, on tasks of held-out classes (0.05). None never rejects
        reject_label: the answer to what is none of the classes
        seed: of the sampled classifiers

    Examples:
        >>> import numpy as np
        >>> strokes = np.full((4, 28, 28), 255, np.uint8)  # white paper
        >>> strokes[:2, :, 12:15] = 0  # two upright lines, two level ones
        >>> strokes[2:, 12:15] = 0
        >>> classifier = FewShotClassifier("glyphs").fit(strokes, ["upright", "upright", "level", "level"])
        >>> classifier.predict(strokes).tolist()
        ['upright', 'upright', 'level', 'level']
    """

    def __init__(
        self,
        model: Any = "glyphs",
        *,
        samples: int = 128,
        device: str = "auto",
        reject: float | None = None,
        reject_label: Any = "none of these",
        seed: int = 0,
    ) -> None:
        self.model, self.samples, self.device = model, samples, device
        self.reject, self.reject_label, self.seed = reject, reject_label, seed

    # --- fitting

    def fit(self, X: Any, y: ArrayLike | None = None) -> "FewShotClassifier":  # noqa: N803
        """Fit to images X with labels y, or to a folder of class folders."""
        images, labels = self._with_labels(X, y)
        self.begin(images)
        return self._add(self._inputs(images, reset=True), labels, None)

    def partial_fit(
        self, X: Any, y: ArrayLike | None = None, classes: ArrayLike | None = None
    ) -> "FewShotClassifier":
        """Add examples, or whole new classes; the answer is that of `fit` on everything at once.

        `classes`, scikit-learn's list of all labels, is only compared with y.
        """
        images, labels = self._with_labels(X, y)
        if classes is not None and (
            unknown := set(labels.tolist()) - set(np.asarray(classes).tolist())
        ):
            raise ValueError(
                f"The label {sorted(map(str, unknown))[0]} is not in the given classes."
            )
        if not hasattr(self, "task_"):
            self.begin(images)
            return self._add(self._inputs(images, reset=True), labels, None)
        return self._extend(self._inputs(images, reset=False), labels)

    def add_converted(
        self, images: Sequence[NDArray[np.uint8]], labels: Sequence[Any]
    ) -> "FewShotClassifier":
        """As `partial_fit`, with images that are already as the model wants them (`saved_.conversion`)."""
        inputs = [torch.tensor(image) for image in images]
        if not hasattr(self, "task_"):
            return self._add(inputs, label_array(list(labels)), None)
        return self._extend(inputs, label_array(list(labels)))

    def _extend(self, inputs: list[Tensor], labels: NDArray[Any]) -> "FewShotClassifier":
        if self._conditioned and self.support_ is None:
            raise ModelError(
                "This model conditions its features on all support images (TEN), and a loaded task no longer has "
                "them. Fit again with all images."
            )
        return self._add(inputs, labels, self.task_)

    def _with_labels(self, X: Any, y: ArrayLike | None) -> tuple[Any, NDArray[Any]]:  # noqa: N803
        if y is None and isinstance(X, str | Path):
            paths, names = labelled_folder(Path(X))
            return paths, np.array(names)
        if y is None:
            raise ValueError(
                "requires y to be passed, but the target y is None: labels may only be left out for a folder."
            )
        return X, label_array(y)

    def begin(self, images: Any = None) -> None:
        """Load the model, check that it answers for single images, and forget what was fitted before."""
        if not isinstance(self.samples, int | np.integer) or not 1 <= self.samples <= MOST_SAMPLES:
            raise SettingsError(
                f"samples must be a whole number from 1 to {MOST_SAMPLES}, but is {self.samples!r}."
            )
        device = self._device
        self.saved_ = self._load(images)
        if self.reject is not None:
            check_rejection_rate(self.reject)
            self._rejection()
        norms = [part for part in self.saved_.model.modules() if isinstance(part, TaskBatchNorm)]
        if any(part.mode == "episode" for part in norms):
            if all(bool((part.running_var == 1).all()) for part in norms):
                raise ModelError(
                    "This model normalises by episode and has no running averages, so it cannot be used."
                )
            self.saved_ = dataclasses.replace(
                self.saved_, model=copy.deepcopy(self.saved_.model)
            )  # it may be a user's
            set_norm(self.saved_.model, "running")
        channels_last(self.saved_.model.to(device).eval())
        self.support_: list[Any] | None = None
        self.features_: Tensor | None = None
        self.labels_: NDArray[Any] | None = None
        if self.saved_.conversion is None and hasattr(self, "n_features_in_"):
            del self.n_features_in_

    def _load(self, images: Any) -> SavedModel:
        """The model; what is to be fitted plays no part."""
        del images
        return (
            self.model
            if isinstance(self.model, SavedModel)
            else load_model(locate_model(self.model))
        )

    def _add(
        self, inputs: list[Tensor], labels: NDArray[Any], before: FittedTask | None
    ) -> "FewShotClassifier":
        if not inputs:
            raise DataError("There is nothing to fit: give at least one image.")
        if len(inputs) != len(labels):
            raise ValueError(
                f"There are {len(inputs)} images but {len(labels)} labels (inconsistent numbers of samples)."
            )
        features = self._at_work.embed(inputs)
        new = FittedTask.of(features, labels.tolist())
        if before is None:
            self.features_, self.labels_ = features, labels
        elif (
            self.features_ is not None and self.labels_ is not None
        ):  # a loaded task has them no longer
            self.features_ = torch.cat([self.features_, features])
            self.labels_ = np.concatenate(
                [alike(self.labels_, labels), alike(labels, self.labels_)]
            )
        self.task_ = new if before is None else before | new
        self.classes_ = listed_labels(self.task_.classes)
        if self._conditioned:
            self.support_ = [*(self.support_ or []), *inputs]
            assert self.labels_ is not None
            self.task_ = self._at_work.condition(self.task_, self.support_, self.labels_.tolist())
        self._inferred = self._at_work.infer(self.task_)
        self.spread_ = self._spread()
        return self

    @property
    def _conditioned(self) -> bool:
        return self.saved_.model.task_embedding is not None

    # --- features

    def _inputs(self, images: Any, *, reset: bool) -> list[Tensor]:
        """Network inputs, one tensor for each image; in memory as the store would have them."""
        conversion = self.saved_.conversion
        if conversion is None:
            if isinstance(images, Tensor):
                images = images.detach().cpu().numpy()
            return list(
                torch.from_numpy(validate_data(self, images, reset=reset, dtype=np.float32))
            )
        return network_images(images, conversion)

    @property
    def _at_work(self) -> TaskModel:
        return TaskModel(self.saved_, self._device)

    @property
    def _device(self) -> torch.device:
        return device_named(self.device)

    def _predictions(self, X: Any) -> list[Prediction]:  # noqa: N803
        check_is_fitted(self, "task_")
        inputs = self._inputs(X, reset=False)
        return self._answer(self._at_work.embed(inputs, self._inferred.films)) if inputs else []

    def _answer(self, features: Tensor) -> list[Prediction]:
        return self._at_work.answer(features, self._inferred.prior, int(self.samples), self.seed)

    def _look(self, inputs: list[Tensor]) -> tuple[list[Prediction], NDArray[np.float64]]:
        """What is believed of each image, and how far it is from the nearest class."""
        if not inputs:
            return [], np.zeros(0)
        work, films = self._at_work, self._inferred.films
        features = work.embed(
            inputs
        )  # distances are of unconditioned features; TADAM with TEN classifies others
        predictions = self._answer(features if films is None else work.embed(inputs, films))
        return predictions, work.distances(features, self.task_).cpu().double().numpy()

    # --- answers

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Probabilities (n, classes), columns in the order of `classes_`; they never include "none of these"."""
        return _probabilities(self._predictions(X), len(self.classes_))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The most probable label of each image, or `reject_label` where it is too far from all classes."""
        if self.reject is None:
            return self._best(self._predictions(X))
        check_is_fitted(self, "task_")
        return self._answers(*self._look(self._inputs(X, reset=False)))

    def answer_converted(self, images: Sequence[NDArray[np.uint8]]) -> Answer:
        """Everything about images that are already as the model wants them, from one look at them."""
        check_is_fitted(self, "task_")
        predictions, distances = self._look([torch.tensor(image) for image in images])
        probabilities, labels = (
            _probabilities(predictions, len(self.classes_)),
            self._answers(predictions, distances),
        )
        return Answer(
            labels, probabilities, _uncertainty(predictions), self._rejected(distances), distances
        )

    def uncertainty(self, X: Any) -> Uncertainty:  # noqa: N803
        """Predictive entropy and mutual information of each image."""
        return _uncertainty(self._predictions(X))

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:  # noqa: N803
        """Share of right answers; a rejected image counts as wrong."""
        right = [
            answer == truth
            for answer, truth in zip(self.predict(X).tolist(), label_array(y).tolist(), strict=True)
        ]
        return float(
            np.average(
                right, weights=None if sample_weight is None else np.asarray(sample_weight, float)
            )
        )

    def _best(self, predictions: list[Prediction]) -> NDArray[Any]:
        return self.classes_[_probabilities(predictions, len(self.classes_)).argmax(1)]

    def _answers(
        self, predictions: list[Prediction], distances: NDArray[np.float64]
    ) -> NDArray[Any]:
        chosen = self._best(predictions)
        if self.reject is None:
            return chosen
        answers = np.array(chosen, dtype=object)
        answers[self._rejected(distances)] = self.reject_label
        return listed_labels(answers.tolist()) if len(answers) else chosen

    def _rejected(self, distances: NDArray[np.float64]) -> NDArray[np.bool_]:
        if self.reject is None:
            return np.zeros(len(distances), bool)
        way, counts, table = len(self.classes_), self.task_.counts.numpy(), self._rejection()
        return distances > table.threshold(way, counts, self.reject)[0] * threshold_factor(
            self.spread_
        )

    def _rejection(self) -> Rejection:
        if self.saved_.rejection is None:
            raise ModelError(
                "This model has no thresholds for rejection (or those of an earlier version, by another score); "
                "training measures them on held-out classes."
            )
        return self.saved_.rejection

    @property
    def rejection_note(self) -> str:
        """What `reject` means for this task, in a sentence."""
        check_is_fitted(self, "task_")
        if self.reject is None:
            return "nothing is rejected (reject=None)"
        table, counts, way = self._rejection(), self.task_.counts.numpy(), len(self.classes_)
        return describe_rejection(table, self.reject, way, counts, threshold_factor(self.spread_))

    def leave_one_out(self) -> dict[str, Any] | None:
        """Accuracy, and share rejected, of support images that are answered by the others; at most 200 of them.

        Only images of classes with two or more count. None with TEN, after loading, or where no class has two images.
        """
        check_is_fitted(self, "task_")
        left_out = None if self._conditioned else self._left_out()
        if left_out is None:
            return None
        work, right = self._at_work, []
        for feature, label in zip(*left_out, strict=True):
            others = work.infer_without(self.task_, self._inferred.prior, feature, int(label))
            (prediction,) = work.answer(feature[None], others, int(self.samples), self.seed)
            right.append(int(prediction.probabilities[0, 0].argmax()) == int(label))
        distances = work.own_distances(*left_out, self.task_).cpu().double().numpy()
        rejected = None if self.reject is None else float(np.mean(self._rejected(distances)))
        return {"images": len(right), "accuracy": float(np.mean(right)), "rejected": rejected}

    def _left_out(self) -> tuple[Tensor, Tensor] | None:
        """Features and class numbers of support images whose class has others, at most 200; None if there are none."""
        if self.features_ is None or self.labels_ is None:
            return None
        position = {label: index for index, label in enumerate(self.task_.classes)}
        index = torch.tensor([position[label] for label in self.labels_.tolist()])
        able = torch.nonzero(self.task_.counts[index] > 1).flatten()
        if not len(able):
            return None
        chosen = able[
            np.unique(np.linspace(0, len(able) - 1, min(MOST_LEFT_OUT, len(able))).astype(int))
        ]
        return self.features_[chosen.to(self.features_.device)], index[chosen]

    def _spread(self) -> float | None:
        """How far support images are from each other; a loaded task that grows keeps its figure, it has no images."""
        if self.features_ is None:
            return self.spread_
        left_out, table = self._left_out(), self.saved_.rejection
        if left_out is None or table is None:
            return None
        features, labels = left_out
        shot = float(np.median(self.task_.counts[labels].numpy())) - 1
        distances = self._at_work.own_distances(features, labels, self.task_)
        return table.spread_ratio(len(self.classes_), shot, distances.cpu().double().numpy())

    # --- files

    def save(self, path: str | Path) -> Path:
        """Write the fitted task: class names, sums and counts, and which model it belongs to. No images."""
        check_is_fitted(self, "task_")
        shipped = isinstance(self.model, str) and (
            self.model in shipped_models() or not Path(self.model).exists()
        )
        name = "" if isinstance(self.model, SavedModel) else str(self.model)
        parameters = {
            key: getattr(self, key) for key in ("samples", "reject", "reject_label", "seed")
        }
        info = TaskInfo(
            name if shipped or not name else str(Path(name).resolve()),
            self.saved_.identity,
            parameters,
            self.leave_one_out(),
            self.spread_,
        )
        write_task(Path(path), self.task_, info)
        return Path(path)

    @classmethod
    def load(cls, path: str | Path, model: Any = None, device: str = "auto") -> "FewShotClassifier":
        """Read a fitted task. `model` says where the model is now, if it has moved; its hash must be the same."""
        task, info = read_task(Path(path))
        if model is None and not info.model:
            raise ModelError(f"{path} does not say where its model is; pass it as `model`.")
        classifier = cls(info.model if model is None else model, device=device, **info.parameters)
        classifier.begin()
        saved = classifier.saved_
        if saved.identity != info.identity:
            raise ModelError(
                f"{path} belongs to another model than {classifier.model} (their hashes differ)."
            )
        conditioned = saved.model.task_embedding is not None
        if (
            task.totals.shape[1] != saved.model.feature_dim
            or (task.conditioned is not None) != conditioned
        ):
            raise ModelError(f"{path} does not fit the model {classifier.model}.")
        classifier.task_, classifier.classes_ = task, listed_labels(task.classes)
        classifier._inferred, classifier.spread_ = classifier._at_work.infer(task), info.spread
        if saved.conversion is None:
            classifier.n_features_in_ = task.totals.shape[1]
        return classifier


def _probabilities(predictions: list[Prediction], classes: int) -> NDArray[np.float64]:
    parts = [each.probabilities[0].cpu().double().numpy() for each in predictions]
    joined = np.concatenate(parts) if parts else np.zeros((0, classes))
    return joined / joined.sum(1, keepdims=True)


def _uncertainty(predictions: list[Prediction]) -> Uncertainty:
    entropy = np.concatenate(
        [each.entropy[0].cpu().double().numpy() for each in predictions] or [np.zeros(0)]
    )
    information = [each.mutual_information for each in predictions]
    known = [each[0].cpu().double().numpy() for each in information if each is not None]
    return Uncertainty(entropy, np.concatenate(known) if known else None)
