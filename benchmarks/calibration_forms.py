"""Which form of a network's calibration carries over to classes that it was not fitted on?

    python benchmarks/calibration_forms.py cifar_fs glyphs

The validation classes are divided into halves, three times. Each form is fitted on tasks of one
half and judged by the NLL of tasks of the other, in both directions, over all shots and ways. The
forms differ in two things: a term in 1 / shots in the laws, and the smallest spread of the
temperature between tasks. Prints JSON; no test class is touched.
"""

import copy
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import tyro
from torch import Tensor

from samovar.artifacts.locate import locate_model
from samovar.artifacts.saved_model import SavedModel, load_network
from samovar.data.dataset import Dataset
from samovar.evaluation import calibration_fit
from samovar.evaluation.calibration_fit import ShapeTables, measure_shape
from samovar.evaluation.evaluator import training_dataset
from samovar.evaluation.task_runner import TaskRunner
from samovar.prediction.calibration import shape_terms
from samovar.prediction.task_temperature import deviations, log_posterior_weights

HALVINGS = 3


@dataclass(frozen=True)
class Form:
    """A form of the calibration."""

    inverse_shots: bool
    """A term in 1 / shots in all laws."""
    smallest_spread: float


FORMS = [Form(*choices) for choices in itertools.product((False, True), (0.0, 0.2, 0.4, 0.6))]


class Laws:
    """The coefficients of one form, which learn."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.sigma = torch.zeros(5, dtype=torch.float64, requires_grad=True)
        self.temperature = torch.zeros(5, dtype=torch.float64, requires_grad=True)
        first = torch.tensor(calibration_fit.FIRST_SPREAD)
        self.log_spread = first.log().requires_grad_()

    def look_up(self, table: Tensor, way: int, shot: int) -> Tensor:
        """Return the entries of a table at the factor and temperatures of a shape."""
        inverse = 1 / shot if self.form.inverse_shots else 0.0
        terms = torch.tensor((*shape_terms(way, shot), inverse), dtype=torch.float64)
        spread = self.log_spread.exp().clamp(min=self.form.smallest_spread)
        log_temperatures = self.temperature @ terms + spread * deviations(1.0)
        return calibration_fit._looked_up(table, (self.sigma @ terms).exp(), log_temperatures)

    def nll(self, table: ShapeTables) -> Tensor:
        """Return the mean NLL of the queries of one shape."""
        query = self.look_up(table.query, table.way, table.shot)
        left_out = self.look_up(table.left_out, table.way, max(1, table.shot - 1))
        return -(log_posterior_weights(left_out)[:, None] + query).logsumexp(-1).mean()

    def fit(self, tables: Sequence[ShapeTables]) -> None:
        """Make the queries as probable as this form can."""
        steps = calibration_fit.STEPS
        parameters = [self.sigma, self.temperature, self.log_spread]
        optimizer = torch.optim.Adam(parameters, calibration_fit.STEP_SIZE)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        for _ in range(steps):
            optimizer.zero_grad()
            losses = torch.stack([self.nll(table) for table in tables])
            penalty = calibration_fit.PENALTY * self.sigma.square().sum()
            (losses.mean() + penalty).backward()
            optimizer.step()
            schedule.step()


def half_of(dataset: Dataset, positions: Sequence[int]) -> Dataset:
    """Return some classes of a data set."""
    half = copy.copy(dataset)
    chosen = np.sort(np.array(positions))
    half.class_names = [dataset.class_names[position] for position in chosen]
    half.counts = dataset.counts[chosen]
    half.starts = dataset.starts[chosen]
    return half


def measured(saved: SavedModel, dataset: Dataset, seed: int, tasks: int) -> list[ShapeTables]:
    """Return the answers to tasks of every shape that the classes allow."""
    model = copy.deepcopy(saved.model)
    runner = TaskRunner(model, dataset, saved.normalisation, torch.device("cpu"))
    tables = []
    for way in sorted({min(way, len(dataset)) for way in calibration_fit.WAYS}):
        for shot in calibration_fit.SHOTS:
            table = measure_shape(runner, way, shot, seed, tasks)
            if table is not None:
                tables.append(table)
    return tables


def carried_over(form: Form, first: list[ShapeTables], second: list[ShapeTables]) -> float:
    """Fit on the first half and return the mean NLL of the second."""
    laws = Laws(form)
    laws.fit(first)
    with torch.no_grad():
        return float(torch.stack([laws.nll(table) for table in second]).mean())


def judge(name: str, tasks: int) -> list[dict[str, object]]:
    """Return the NLL of every form for one model, the best first."""
    saved = load_network(locate_model(name))
    validation = training_dataset(saved, "val")
    source = np.random.default_rng(0)
    pairs = []
    for halving in range(HALVINGS):
        order = source.permutation(len(validation))
        middle = len(order) // 2
        halves = [half_of(validation, order[:middle]), half_of(validation, order[middle:])]
        pairs.append([measured(saved, half, halving, tasks) for half in halves])
    rows = []
    for form in FORMS:
        values = []
        for first, second in pairs:
            values += [carried_over(form, first, second), carried_over(form, second, first)]
        rows.append({"model": name, **vars(form), "nll": round(float(np.mean(values)), 4)})
    return sorted(rows, key=lambda row: row["nll"])


def main(models: tyro.conf.Positional[tuple[str, ...]], tasks: int = 24) -> None:
    """Judge all forms for each model; `tasks` of each shape."""
    rows = []
    for name in models:
        rows += judge(name, tasks)
    print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
