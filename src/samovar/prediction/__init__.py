"""From a distribution over the classifier's weights, p(w | D), to predictions.

The names below are those that your own rejection score needs (docs/extending.md). They load on
first use.
"""

from typing import TYPE_CHECKING

from samovar.core.lazy import lazy_exports

if TYPE_CHECKING:
    from samovar.prediction.predictive import Prediction as Prediction
    from samovar.prediction.rejection import Rejection as Rejection
    from samovar.prediction.rejection import RejectionScore as RejectionScore
    from samovar.prediction.rejection import register_rejection_score as register_rejection_score

__all__ = ["Prediction", "Rejection", "RejectionScore", "register_rejection_score"]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "Prediction": "samovar.prediction.predictive",
        "Rejection": "samovar.prediction.rejection",
        "RejectionScore": "samovar.prediction.rejection",
        "register_rejection_score": "samovar.prediction.rejection",
    },
)
