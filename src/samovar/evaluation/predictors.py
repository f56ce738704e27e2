"""The predictors of an evaluated model, under the names that files and flags use.

This module imports neither numpy nor torch, since the flags of `samovar compare` are made from it.
"""

from enum import StrEnum


class Predictor(StrEnum):
    """How a model predicts; the values are the names in evaluation.json and evaluation.npz."""

    PREDICTIVE = "predictive"
    """The mean of the probabilities over sampled classifiers."""
    MEAN_CLASSIFIER = "mean_classifier"
    """The one classifier at the mean of the predicted weights."""
    PREDICTIVE_TEMPERED = "predictive_tempered"
    """The predictive, with a temperature that was fitted on validation tasks."""
    MEAN_CLASSIFIER_TEMPERED = "mean_classifier_tempered"
    """The classifier at the mean, with a temperature that was fitted on validation tasks."""
    CALIBRATED = "calibrated"
    """The predictive with the calibration that is stored in the model, as a user's images get."""

    @property
    def label(self) -> str:
        """The name in tables and figures."""
        return _LABELS[self]

    @property
    def is_tempered(self) -> bool:
        """Whether a temperature is applied that the evaluation has fitted."""
        return self.endswith("_tempered")

    @property
    def tempered(self) -> "Predictor":
        """The same predictor with a fitted temperature; a calibrated one has its own."""
        if self.is_tempered or self == Predictor.CALIBRATED:
            return self
        return Predictor(f"{self}_tempered")


_LABELS = {
    Predictor.PREDICTIVE: "sampled classifiers",
    Predictor.MEAN_CLASSIFIER: "classifier at the mean",
    Predictor.PREDICTIVE_TEMPERED: "sampled, tempered",
    Predictor.MEAN_CLASSIFIER_TEMPERED: "at the mean, tempered",
    Predictor.CALIBRATED: "sampled, calibrated",
}
