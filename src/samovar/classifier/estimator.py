"""The scikit-learn face: fit on a few labelled images, predict with calibrated probabilities.

`FewShotClassifier` checks and converts what the user gives. All that is computed, and all that is
remembered, is in the `FittedModel` or `FittedRegression` that it holds as `fitted_`.
"""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from samovar.artifacts.saved_model import SavedModel
from samovar.artifacts.saved_regression import SavedRegression
from samovar.classifier.answer import (
    Answer,
    AnswerParameters,
    Uncertainty,
    probabilities_of,
    uncertainty_of,
)
from samovar.classifier.check_report import CheckReport, check_camera, check_support
from samovar.classifier.chosen_encoder import choose_encoder
from samovar.classifier.fitted_model import FittedModel
from samovar.classifier.fitted_task import FittedTask
from samovar.classifier.held_out import calibrated
from samovar.classifier.labelled_images import LabelledImages, labelled, queries
from samovar.classifier.loading import (
    Fitted,
    fit_task,
    load_fitted,
    ready_model,
    save_fitted,
    stored_name,
)
from samovar.classifier.notebook_view import first_files, fitted_html
from samovar.classifier.regression_task import RegressionTask
from samovar.classifier.sets import SetRequest, predict_sets, warn_of_lost_calibration
from samovar.classifier.suggestions import Suggestions, suggest
from samovar.classifier.support_names import SupportNames, wrong_images
from samovar.classifier.used_images import used_images
from samovar.classifier.user_inputs import encoded_images
from samovar.classifier.verbose import verbose_progress
from samovar.core.devices import device_named
from samovar.data.images.user_images import network_images
from samovar.prediction.predictive import Prediction

if TYPE_CHECKING:
    from samovar.classifier.score_report import ScoreReport


class FewShotClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Turn a few labelled images into a classifier with calibrated probabilities.

    Nothing is trained in `fit`: a model that has learned to learn looks at the images once. Images
    are paths, PIL images, arrays (H, W) or (H, W, C), uint8 or float from 0 to 1, or torch tensors,
    of any size, grey or colour: they are converted like the images that the model was trained on.
    For models of ready-made features they are the rows of a matrix. Models with an encoder, like
    "photos", take images, and a matrix of the encoder's vectors as well. `fit` takes a folder of
    class folders without labels (or a zip archive of them, or a list of paths and labels), and
    `predict` takes a single image, or a folder, as well.

    Args:
        model: A shipped model ("photos", for photographs at real size), a model folder, a run
            folder, a name on the Hub, or a SavedModel or SavedRegression, which is copied and
            never changed.
        samples: The number of quasi-random classifiers that are averaged.
        device: "cpu", "cuda", "mps", or "auto".
        reject: Answer `reject_label` where an image is too far from all classes. The number is the
            share of images that do belong and are rejected by mistake, as measured on tasks of
            held-out classes (0.05 is usual). None rejects nothing.
        reject_label: The label of rejected images.
        seed: Seeds the sampled classifiers.
        encoder: What turns images into vectors, instead of the model's own encoder: a name, the
            path of an ONNX file, an Encoder, or any function from a list of PIL images to vectors
            (n, length). "photos" takes any; its probabilities are then not measured. A model that
            was trained on vectors takes its own encoder only, from another place.
        verbose: Show on standard error how many images are read.

    Examples:
        >>> import numpy as np
        >>> strokes = np.full((4, 28, 28), 255, np.uint8)  # white paper
        >>> strokes[:2, :, 12:15] = 0  # two upright lines, two level ones
        >>> strokes[2:, 12:15] = 0
        >>> labels = ["upright", "upright", "level", "level"]
        >>> classifier = FewShotClassifier("glyphs").fit(strokes, labels)
        >>> classifier.predict(strokes).tolist()
        ['upright', 'upright', 'level', 'level']
    """

    fitted_: Fitted
    """The model with the task that it is fitted to."""
    support_: SupportNames | None
    """The file names of the support images; None if some of them were no files."""
    examples_: dict[Any, str]
    """The path of an image of each class, where the images were files and it is known."""

    def __init__(  # noqa: PLR0913 - scikit-learn wants every parameter here, and all have defaults
        self,
        model: Any = "photos",
        *,
        samples: int = 128,
        device: str = "auto",
        reject: float | None = None,
        reject_label: Any = "none of these",
        seed: int = 0,
        encoder: Any = None,
        verbose: bool = False,
    ) -> None:
        self.model = model
        self.samples = samples
        self.device = device
        self.reject = reject
        self.reject_label = reject_label
        self.seed = seed
        self.encoder = encoder
        self.verbose = verbose

    # --- fitting

    def fit(self, X: Any, y: ArrayLike | None = None) -> "FewShotClassifier":  # noqa: N803
        """Fit to images X with labels y, or to class folders (a folder, a zip or a list)."""
        return self._fit(labelled(X, y))

    def partial_fit(
        self,
        X: Any,  # noqa: N803
        y: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> "FewShotClassifier":
        """Add examples or new classes; the result is that of `fit` on everything at once.

        `classes`, scikit-learn's list of all labels, is only compared with y.
        """
        support = labelled(X, y)
        if classes is not None:
            unknown = set(support.labels.tolist()) - set(np.asarray(classes).tolist())
            if unknown:
                first = min(str(label) for label in unknown)
                raise ValueError(f"The label {first} is not in the given classes.")
        if not hasattr(self, "fitted_"):
            return self._fit(support)
        inputs = self._inputs(support.images, self.saved_, reset=False)
        used = used_images(support, inputs, self.support_)
        if used.inputs:
            warn_of_lost_calibration(self.fitted_)
            self.fitted_ = self.fitted_.extended(used.inputs, used.labels)
        if self.support_ is None or used.names is None:
            self.support_ = None  # not all images have names
        else:
            self.support_ = self.support_ + used.names
        self.examples_ = first_files(support) | self.examples_
        return self

    def _fit(self, support: LabelledImages) -> "FewShotClassifier":
        device = device_named(self.device)
        saved = choose_encoder(ready_model(self.model, device), self.encoder)
        self._parameters.check(saved.rejection)
        used = used_images(support, self._inputs(support.images, saved, reset=True))
        self.fitted_ = fit_task(saved, device, used.inputs, used.labels)
        self.support_ = used.names
        self.examples_ = first_files(support)
        return self

    # --- what was fitted

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in the order of the columns of `predict_proba`."""
        return self.fitted_.classes

    @property
    def task_(self) -> FittedTask | RegressionTask:
        """Class sums and counts, or the vectors of the support."""
        return self.fitted_.task

    @property
    def saved_(self) -> SavedModel | SavedRegression:
        """The model in use: a copy of a given model, on the device."""
        return self.fitted_.saved

    @property
    def spread_(self) -> float | None:
        """How far the support images lie from each other, relative to the measured tasks.

        None for `photos`, whose task has the vectors of all its images.
        """
        return self.fitted_.spread

    # --- answers

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the most probable label of each image, or `reject_label` where it is rejected."""
        if self.reject is not None:
            return self.answer(X).labels
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(1)]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the logarithms of the probabilities (n, classes)."""
        with np.errstate(divide="ignore"):  # a probability may be zero
            return np.log(self.predict_proba(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return probabilities (n, classes), in the order of `classes_`, rejected or not."""
        return probabilities_of(self._prediction(X))

    def uncertainty(self, X: Any) -> Uncertainty:  # noqa: N803
        """Return the predictive entropy and the mutual information of each image."""
        return uncertainty_of(self._prediction(X))

    def answer(self, X: Any) -> Answer:  # noqa: N803
        """Return everything about images, which are embedded only once for it."""
        check_is_fitted(self, "fitted_")
        inputs = self._inputs(queries(X), self.saved_, reset=False)
        return self.fitted_.answer(inputs, self._parameters)

    # --- sets

    def calibrate(self, X: Any, y: ArrayLike | None = None) -> "FewShotClassifier":  # noqa: N803
        """Measure prediction sets on held-out images X with labels y, or on class folders.

        They must be other images than those of `fit`. Saved tasks keep what was measured (a number
        for each image); `fit` and `partial_fit` drop it.
        """
        check_is_fitted(self, "fitted_")
        images, labels = labelled(X, y)[:2]
        inputs = self._inputs(images, self.saved_, reset=False)
        self.fitted_ = calibrated(self.fitted_, inputs, labels.tolist(), self._parameters)
        return self

    def prediction_sets(
        self,
        X: Any,  # noqa: N803
        confidence: float = 0.9,
        labels: bool = True,
        *,
        per_class: bool = False,
        confidence_level: float | None = None,
    ) -> list[list[Any]] | NDArray[np.bool_]:
        """Return a set of labels for each image that has its true label in it with a confidence.

        By held-out images after `calibrate`, else by the support; `sets_note` says what is
        guaranteed. An empty set means none of these. A confidence that the images cannot support is
        refused: 90 % needs 9 of them, 95 % needs 19, 99 % needs 99.

        Args:
            X: Images.
            confidence: The share of images whose set has their true label.
            labels: Return lists of labels, the most probable first; otherwise a boolean array
                (n, classes) in the order of `classes_`.
            per_class: Let the share hold for the images of each class instead of for all.
            confidence_level: Another name for `confidence`.
        """
        check_is_fitted(self, "fitted_")
        request = SetRequest(
            confidence if confidence_level is None else confidence_level, per_class
        )
        request.check()
        inputs = self._inputs(queries(X), self.saved_, reset=False)
        probabilities = probabilities_of(self.fitted_.predict(inputs, self._parameters))
        sets = predict_sets(self.fitted_, inputs, probabilities, request, self._parameters)
        if labels:
            return sets.listed(probabilities, self.classes_.tolist())
        return sets.members

    def sets_note(self, confidence: float = 0.9, *, per_class: bool = False) -> str:
        """Say how `prediction_sets` makes its sets for this task, and what is guaranteed."""
        check_is_fitted(self, "fitted_")
        nothing = np.zeros((0, len(self.classes_)))
        request = SetRequest(confidence, per_class)
        sets = predict_sets(self.fitted_, [], nothing, request, self._parameters)
        return f"{sets.method}: {sets.note}"

    def score(
        self,
        X: Any,  # noqa: N803
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the share of right answers; a rejected image counts as wrong.

        Class folders need no y. `score_report` tells more.
        """
        images, labels = labelled(X, y)[:2]
        answers = self.predict(images).tolist()
        # Label by label: arrays of different types would be compared as text.
        right = [answer == truth for answer, truth in zip(answers, labels.tolist(), strict=True)]
        if sample_weight is None:
            return float(np.mean(right))
        return float(np.average(right, weights=np.asarray(sample_weight, float)))

    def score_report(self, X: Any, y: ArrayLike | None = None) -> "ScoreReport":  # noqa: N803
        """Return how good the answers to labelled images are, as `samovar score` shows it.

        It has the accuracy with an interval, class by class, the confusions, the mistakes, and how
        honest the probabilities were. Labels that are no class of the task stand for images that
        should be rejected.
        """
        # It shares its calibration error with `evaluate`, which is not needed for answers.
        from samovar.classifier.score_report import score_answers

        support = labelled(X, y)
        answer = self.answer(support.images)
        classes = self.classes_.tolist()
        names = support.file_names
        truths = support.labels.tolist()
        return score_answers(answer, truths, classes, names, self.reject_label)

    def suggest(self, X: Any, count: int = 10) -> Suggestions:  # noqa: N803
        """Return which of these unlabelled images to label next, as `samovar next` does.

        Doubtful images that tell much about the others come first, and no two that tell the same.
        """
        check_is_fitted(self, "fitted_")
        inputs = self._inputs(queries(X), self.saved_, reset=False)
        return suggest(self.fitted_, inputs, count, self._parameters)

    def check(self, new: Any = None) -> CheckReport:
        """Return what may be wrong with the support images, as `samovar check` shows it.

        It has labels that are probably wrong, near-duplicates, classes that cannot be told apart,
        and classes with too few images. `new` are unlabelled images that are to be answered: the
        report says whether they seem to come from another camera.
        """
        check_is_fitted(self, "fitted_")
        names = None if self.support_ is None else self.support_.names
        report = check_support(self.fitted_, self._parameters, names)
        if new is None:
            return report
        inputs = self._inputs(queries(new), self.saved_, reset=False)
        camera = check_camera(self.fitted_, inputs, self._parameters)
        return dataclasses.replace(report, camera=camera)

    @property
    def rejection_note(self) -> str:
        """What `reject` means for this task, in a sentence."""
        check_is_fitted(self, "fitted_")
        return self.fitted_.rejection_note(self.reject)

    def leave_one_out(self) -> dict[str, Any] | None:
        """Classify support images by the others: their number, `accuracy`, and share `rejected`.

        `wrong` lists those that are answered wrongly: the file name (or the position in X, if the
        images were no files), its label, and the answer.
        Only images of classes with two or more are left out; None if no class has two images.
        Models other than `photos` leave out at most 200; for them it is also None with TEN and
        after loading.
        """
        check_is_fitted(self, "fitted_")
        measured = self.fitted_.leave_one_out(self._parameters)
        if measured is None:
            return None
        names = None if self.support_ is None else self.support_.names
        wrong = wrong_images(measured, names)
        return measured.to_json() | {"wrong": [image.to_json() for image in wrong]}

    def _prediction(self, X: Any) -> Prediction:  # noqa: N803
        check_is_fitted(self, "fitted_")
        inputs = self._inputs(queries(X), self.saved_, reset=False)
        return self.fitted_.predict(inputs, self._parameters)

    @property
    def _parameters(self) -> AnswerParameters:
        """The constructor's arguments that answers depend on."""
        return AnswerParameters(self.samples, self.reject, self.reject_label, self.seed)

    def _inputs(
        self, images: Any, saved: SavedModel | SavedRegression, *, reset: bool
    ) -> list[Tensor]:
        """Return a tensor for each image, as the model takes it.

        `reset` is that of scikit-learn's validate_data: whether to learn the number of features.
        """
        if saved.encoder is not None:
            return encoded_images(images, saved, verbose_progress(self.verbose))
        assert isinstance(saved, SavedModel)  # a regression has an encoder
        if saved.conversion is not None:
            return network_images(images, saved.conversion, verbose_progress(self.verbose))
        if isinstance(images, Tensor):
            images = images.detach().cpu().numpy()
        return list(torch.from_numpy(validate_data(self, images, reset=reset, dtype=np.float32)))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Add the classes to scikit-learn's diagram, for notebooks."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle and hasattr(self, "fitted_"):
            bundle["text/html"] += self._fitted_html()
        return bundle

    @property
    def _repr_html_(self) -> Any:
        diagram = super()._repr_html_  # raises AttributeError where diagrams are switched off
        if not hasattr(self, "fitted_"):
            return diagram
        return lambda: diagram() + self._fitted_html()

    def _fitted_html(self) -> str:
        measured = self.fitted_.leave_one_out(self._parameters)
        return fitted_html(self.fitted_, self.examples_, measured)

    # --- files

    def save(self, path: str | Path) -> Path:
        """Write the fitted task: class names, features and the model's hash, no images."""
        check_is_fitted(self, "fitted_")
        measured = self.fitted_.leave_one_out(self._parameters)
        model = stored_name(self.model)
        parameters = self._parameters
        save_fitted(Path(path), self.fitted_, model, parameters, measured, self.support_)
        return Path(path)

    @classmethod
    def load(
        cls, path: str | Path, model: Any = None, device: str = "auto", encoder: Any = None
    ) -> "FewShotClassifier":
        """Read a fitted task.

        Args:
            path: A file that `save` or `samovar fit` has written.
            model: Where its model is now, if it has moved; its hash must be the same.
            device: As for the class.
            encoder: Where its encoder is now, if it has moved, or the function itself, if it is
                one; its hash must be the same.
        """
        fitted, info = load_fitted(Path(path), model, device_named(device), encoder)
        if model is None:
            model = info.model
        if encoder is None:
            encoder = info.encoder
        parameters = dataclasses.asdict(info.parameters)
        classifier = cls(model, device=device, encoder=encoder, **parameters)
        classifier.fitted_ = fitted
        classifier.support_ = info.support
        classifier.examples_ = {}
        if isinstance(fitted, FittedModel) and _takes_vectors_only(fitted.saved):
            classifier.n_features_in_ = fitted.task.totals.shape[1]
        return classifier


def _takes_vectors_only(saved: SavedModel) -> bool:
    return saved.conversion is None and saved.encoder is None
