"""The rivals of a model with the temperatures that were fitted for them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from samovar.evaluation.outcomes import Outcomes
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.rivals import LOGITS, TaskFeatures
from samovar.prediction.predictive import Prediction, entropy_of
from samovar.prediction.rejection import COSINE_DISTANCE


@dataclass(frozen=True)
class FittedRivals:
    """All rivals, as they come and with their temperatures.

    temperatures: by rival as it comes; note: what they were fitted on, or why there are none.
    """

    temperatures: dict[Predictor, float]
    note: str

    def outcomes(
        self, features: TaskFeatures, labels: Tensor, classes: NDArray[np.int64]
    ) -> dict[Predictor, Outcomes]:
        """Let every rival answer the queries of T tasks, whose labels are (T, Q)."""
        distance = COSINE_DISTANCE(features.query, features.class_means)
        outcomes = {}
        for rival, logits_of in LOGITS.items():
            logits = logits_of(features)
            energy = energy_of(logits)
            answers = {rival: logits}
            if rival in self.temperatures:
                answers[rival.tempered] = logits / self.temperatures[rival]
            for predictor, scaled in answers.items():
                probabilities = scaled.softmax(-1)
                prediction = Prediction(probabilities, entropy_of(probabilities))
                outcomes[predictor] = Outcomes.of(prediction, labels, distance, classes, energy)
        return outcomes

    def temperature_of(self, predictor: Predictor) -> float | None:
        """Return the temperature that a rival applies; None for those that apply none."""
        if not predictor.is_tempered:
            return None
        return self.temperatures.get(predictor.untempered)


def energy_of(logits: Tensor) -> Tensor:
    """Return the energy -log sum_n exp z_n of logits (..., N): high where no class claims much."""
    return -logits.logsumexp(-1)
