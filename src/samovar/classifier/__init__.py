"""The scikit-learn face: a few labelled images in, a classifier with honest probabilities out.

The names below load on first use.
"""

from typing import TYPE_CHECKING

from samovar.core.lazy import lazy_exports

if TYPE_CHECKING:
    from samovar.classifier.answer import Answer as Answer
    from samovar.classifier.answer import Uncertainty as Uncertainty
    from samovar.classifier.estimator import FewShotClassifier as FewShotClassifier

__all__ = ["Answer", "FewShotClassifier", "Uncertainty"]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "Answer": "samovar.classifier.answer",
        "FewShotClassifier": "samovar.classifier.estimator",
        "Uncertainty": "samovar.classifier.answer",
    },
)
