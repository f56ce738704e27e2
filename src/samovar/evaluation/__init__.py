"""From a protocol to numbers with intervals: how good a model's predictions and uncertainty are.

The names below are the public face of this room. They load on first use, as those of `samovar` do.
"""

from typing import TYPE_CHECKING

from samovar.core.lazy import lazy_exports

if TYPE_CHECKING:
    from samovar.evaluation.comparison import compare as compare
    from samovar.evaluation.evaluator import Evaluator as Evaluator
    from samovar.evaluation.evaluator import evaluate as evaluate
    from samovar.evaluation.evaluator import training_dataset as training_dataset
    from samovar.evaluation.metrics import Estimate as Estimate
    from samovar.evaluation.metrics import TaskMetrics as TaskMetrics
    from samovar.evaluation.metrics import expected_calibration_error as expected_calibration_error
    from samovar.evaluation.outcomes import Outcomes as Outcomes
    from samovar.evaluation.stored_evaluation import StoredEvaluation as StoredEvaluation
    from samovar.evaluation.task_evaluator import Evaluation as Evaluation
    from samovar.evaluation.uncertainty import auroc as auroc
    from samovar.evaluation.uncertainty import risk_coverage as risk_coverage

__all__ = [
    "Estimate",
    "Evaluation",
    "Evaluator",
    "Outcomes",
    "StoredEvaluation",
    "TaskMetrics",
    "auroc",
    "compare",
    "evaluate",
    "expected_calibration_error",
    "risk_coverage",
    "training_dataset",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "Estimate": "samovar.evaluation.metrics",
        "Evaluation": "samovar.evaluation.task_evaluator",
        "Evaluator": "samovar.evaluation.evaluator",
        "Outcomes": "samovar.evaluation.outcomes",
        "StoredEvaluation": "samovar.evaluation.stored_evaluation",
        "TaskMetrics": "samovar.evaluation.metrics",
        "auroc": "samovar.evaluation.uncertainty",
        "compare": "samovar.evaluation.comparison",
        "evaluate": "samovar.evaluation.evaluator",
        "expected_calibration_error": "samovar.evaluation.metrics",
        "risk_coverage": "samovar.evaluation.uncertainty",
        "training_dataset": "samovar.evaluation.evaluator",
    },
)
