"""The paper's tables and figures reproduced, ours beside the published, and a few beyond it.

The names below are what an experiment of your own needs (docs/extending.md). They load on first
use.
"""

from typing import TYPE_CHECKING

from samovar.core.lazy import lazy_exports

if TYPE_CHECKING:
    from samovar.experiments.cell import Cell as Cell
    from samovar.experiments.experiment import Experiment as Experiment
    from samovar.experiments.experiment import Measurements as Measurements
    from samovar.experiments.experiment import ResultTable as ResultTable
    from samovar.experiments.options import ReproduceOptions as ReproduceOptions
    from samovar.experiments.registry import register_experiment as register_experiment
    from samovar.experiments.runner import reproduce as reproduce

__all__ = [
    "Cell",
    "Experiment",
    "Measurements",
    "ReproduceOptions",
    "ResultTable",
    "register_experiment",
    "reproduce",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "Cell": "samovar.experiments.cell",
        "Experiment": "samovar.experiments.experiment",
        "Measurements": "samovar.experiments.experiment",
        "ReproduceOptions": "samovar.experiments.options",
        "ResultTable": "samovar.experiments.experiment",
        "register_experiment": "samovar.experiments.registry",
        "reproduce": "samovar.experiments.runner",
    },
)
