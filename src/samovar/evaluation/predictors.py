"""The predictors of an evaluation, under the names that files and flags use.

Five are the model's own. The others are its rivals: simple classifiers that are fitted to the
support of each task, on the features that the model has (`samovar evaluate --rivals`).

This module imports neither numpy nor torch, since the flags of `samovar compare` are made from it.
"""

from enum import StrEnum

TEMPERED = "_tempered"


class Predictor(StrEnum):
    """How is predicted; the values are the names in evaluation.json and evaluation.npz."""

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

    LOGISTIC_REGRESSION = "logistic_regression"
    """A rival: scikit-learn's logistic regression."""
    LOGISTIC_REGRESSION_TEMPERED = "logistic_regression_tempered"
    PROTOTYPES = "prototypes"
    """A rival: minus the squared distance to the class means, as in Prototypical Networks."""
    PROTOTYPES_TEMPERED = "prototypes_tempered"
    DISCRIMINANT_ANALYSIS = "discriminant_analysis"
    """A rival: linear discriminant analysis, its covariance shrunk by Ledoit and Wolf."""
    DISCRIMINANT_ANALYSIS_TEMPERED = "discriminant_analysis_tempered"
    NEAREST_CENTROID = "nearest_centroid"
    """A rival: the cosine to the class means."""
    NEAREST_CENTROID_TEMPERED = "nearest_centroid_tempered"

    @property
    def label(self) -> str:
        """The name in tables and figures."""
        return _LABELS[self]

    @property
    def is_tempered(self) -> bool:
        """Whether a temperature is applied that the evaluation has fitted."""
        return self.endswith(TEMPERED)

    @property
    def tempered(self) -> "Predictor":
        """The same predictor with a fitted temperature; a calibrated one has its own."""
        if self.is_tempered or self == Predictor.CALIBRATED:
            return self
        return Predictor(f"{self}{TEMPERED}")

    @property
    def untempered(self) -> "Predictor":
        """The same predictor without a temperature."""
        return Predictor(self.removesuffix(TEMPERED))

    @property
    def is_rival(self) -> bool:
        """Whether it is a rival, and not a predictor of the model."""
        return self.untempered in RIVALS


RIVALS = (
    Predictor.LOGISTIC_REGRESSION,
    Predictor.PROTOTYPES,
    Predictor.DISCRIMINANT_ANALYSIS,
    Predictor.NEAREST_CENTROID,
)
"""The rivals as they come; each may have a fitted temperature too."""

OF_MODEL = (
    Predictor.PREDICTIVE,
    Predictor.MEAN_CLASSIFIER,
    Predictor.PREDICTIVE_TEMPERED,
    Predictor.MEAN_CLASSIFIER_TEMPERED,
    Predictor.CALIBRATED,
)
"""The predictors of the model itself."""

_LABELS = {
    Predictor.PREDICTIVE: "sampled classifiers",
    Predictor.MEAN_CLASSIFIER: "classifier at the mean",
    Predictor.PREDICTIVE_TEMPERED: "sampled, tempered",
    Predictor.MEAN_CLASSIFIER_TEMPERED: "at the mean, tempered",
    Predictor.CALIBRATED: "sampled, calibrated",
    Predictor.LOGISTIC_REGRESSION: "logistic regression",
    Predictor.LOGISTIC_REGRESSION_TEMPERED: "logistic regression, tempered",
    Predictor.PROTOTYPES: "prototypes",
    Predictor.PROTOTYPES_TEMPERED: "prototypes, tempered",
    Predictor.DISCRIMINANT_ANALYSIS: "discriminant (LDA)",
    Predictor.DISCRIMINANT_ANALYSIS_TEMPERED: "discriminant (LDA), tempered",
    Predictor.NEAREST_CENTROID: "nearest centroid",
    Predictor.NEAREST_CENTROID_TEMPERED: "nearest centroid, tempered",
}
