"""All experiments by name.

`samovar reproduce --help` lists the names, and must not load torch for that. So the experiments of
this package are written down here as the place where each is found, and are imported when they are
asked for. A new experiment is a file with an `Experiment` and a line in `BUILT_IN`; an experiment
outside of this package calls `register_experiment`.
"""

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from samovar.errors import SettingsError

if TYPE_CHECKING:  # an experiment loads NumPy and torch
    from samovar.experiments.experiment import Experiment

PACKAGE = "samovar.experiments"


@dataclass(frozen=True)
class Place:
    """Where an experiment is found, and what `--help` says about it."""

    module: str
    about: str
    attribute: str = "EXPERIMENT"


BUILT_IN: dict[str, Place] = {
    "synthetic": Place("paper.synthetic.experiment", "variances where the true ones are known"),
    "table1": Place("paper.table1", "VERSA, SAMOVAR-base and separate networks"),
    "table2": Place("paper.table2", "the ablation of SC, AT and TEN"),
    "table3": Place("paper.tables3to5", "miniImageNet", "TABLE3"),
    "table4": Place("paper.tables3to5", "FC100", "TABLE4"),
    "table5": Place("paper.tables3to5", "CIFAR-FS", "TABLE5"),
    "sampling": Place("paper.sampling", "accuracy over the number of sampled classifiers"),
    "beta": Place("paper.beta", "accuracy over beta, the weight of the KL term"),
    "collapse": Place("paper.collapse", "the largest predicted variance during training"),
    "omniglot": Place("beyond.omniglot", "Omniglot, the cheap real benchmark"),
    "longer": Place("beyond.longer", "VERSA against SAMOVAR with four times the updates"),
    "recipes": Place("beyond.recipes", "step sizes and other choices, tried on validation classes"),
    "tuned": Place(
        "beyond.tuned", "SAMOVAR and its rivals, each by its best recipe on validation classes"
    ),
    "shots": Place("beyond.shots", "the models of table1 at shots they were not trained on"),
    "calibration": Place("beyond.calibration", "NLL and ECE of the models of table1"),
    "corruptions": Place("beyond.corruptions", "noise and blur, cifar_fs beside simple rivals"),
}
"""In the order in which they are listed, and run by `samovar reproduce all`."""

_registered: dict[str, "Experiment"] = {}


def register_experiment(experiment: "Experiment") -> None:
    """Add an experiment from outside of this package; `runner.reproduce` finds it by name."""
    if experiment.name in BUILT_IN:
        raise SettingsError(
            f"There is a built-in experiment called {experiment.name!r}. Choose another name."
        )
    _registered[experiment.name] = experiment


def experiment_names() -> tuple[str, ...]:
    """Return the names of all experiments, in order.

    >>> experiment_names()[:3]
    ('synthetic', 'table1', 'table2')
    """
    return (*BUILT_IN, *_registered)


def find_experiment(name: str) -> "Experiment":
    """Return the experiment of this name; import it if it is one of this package."""
    if name in _registered:
        return _registered[name]
    if name not in BUILT_IN:
        raise SettingsError(
            f"There is no experiment {name!r}. Choose one of {', '.join(experiment_names())}."
        )
    place = BUILT_IN[name]
    module = importlib.import_module(f"{PACKAGE}.{place.module}")
    experiment: Experiment = getattr(module, place.attribute)
    return experiment


def all_experiments() -> list["Experiment"]:
    """Return all experiments, in order."""
    return [find_experiment(name) for name in experiment_names()]
