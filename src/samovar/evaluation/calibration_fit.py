"""Fits the calibration of a network on tasks of held-out classes, over many shots and ways.

For each shape of task that the data allows, sampled classifiers answer the queries and, left out,
the support images of some tasks, at a few factors on the standard deviations and at many
temperatures. These answers are tables. The laws of `Calibration` then say where to look them up,
and gradient descent chooses the laws by which the queries are most probable: first the posterior of
each task's own temperature is computed from its left-out images, then the probability of its
queries under it, exactly as a user's task is answered.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from samovar.data.episodes import EpisodeSampler
from samovar.evaluation.task_runner import InferredTasks, TaskRunner
from samovar.prediction.calibration import Calibration, ShapeLaw, shape_terms
from samovar.prediction.learned_temperature import SAMPLES
from samovar.prediction.smaller_tasks import sampled_logits
from samovar.prediction.task_temperature import (
    deviations,
    label_log_likelihoods,
    log_posterior_weights,
)
from samovar.settings.tasks import EpisodeSettings

WAYS = (2, 5, 10, 20)
SHOTS = (1, 2, 5, 10, 20)
"""The shapes that are measured, as far as the data allows."""
MOST_TASKS = 30
"""Tasks of each shape."""
MOST_QUERIES = 50
"""Queries of a task in all."""
QUERY_SAMPLES = 128
"""Sampled classifiers that answer a query, as many as users' images get.

The average over few is noisy, and laws that make up for it are too modest for the average over
many. With 16, the NLL of validation tasks of `cifar_fs` is worse at every shape, by .03 at 16-way
2-shot.
"""
FACTORS = (0.0, 0.35, 0.7, 1.0, 1.5, 2.0)
LOG_TEMPERATURES = torch.linspace(-2.5, 2.5, 21, dtype=torch.float64)
FIRST_SPREAD = 0.4
SMALLEST_SPREAD = 0.4
"""Of the temperature between tasks. From one half of the validation classes to the other, 0.2
carries over best for `cifar_fs` and 0.4 for `glyphs`, both by less than one percent of the NLL
(benchmarks/calibration_forms.py). Users' images differ more than such halves do, so the wider one.
"""
STEPS = 150
STEP_SIZE = 0.05
PENALTY = 1e-3
"""On the coefficients of the factor, which a temperature can often replace."""


@dataclass(frozen=True)
class ShapeTables:
    """The answers to tasks of one shape: log probabilities of the labels.

    query: (factors, tasks, queries, temperatures); left_out: (factors, tasks, temperatures), summed
    over the left-out images of a task, or zero where nothing can be left out.
    """

    way: int
    shot: int
    query: Tensor
    left_out: Tensor


@dataclass(frozen=True)
class Laws:
    """The coefficients that are learned: of the laws, and the log of the spread."""

    sigma: Tensor
    temperature: Tensor
    log_spread: Tensor

    @property
    def spread(self) -> Tensor:
        """The standard deviation of the log temperature between tasks."""
        return self.log_spread.exp().clamp(min=SMALLEST_SPREAD)

    def look_up(self, table: Tensor, way: int, shot: int) -> Tensor:
        """Return the entries (..., G) of a table at the factor and temperatures of a shape."""
        terms = torch.tensor(shape_terms(way, shot), dtype=torch.float64)
        factor = (self.sigma @ terms).exp()
        log_temperatures = self.temperature @ terms + self.spread * deviations(1.0)
        return _looked_up(table, factor, log_temperatures)

    @classmethod
    def first(cls) -> "Laws":
        """Return where learning begins: nothing is changed."""
        log_spread = torch.tensor(math.log(FIRST_SPREAD), requires_grad=True)
        return cls(_flat_law(), _flat_law(), log_spread)


def _flat_law() -> Tensor:
    terms = len(shape_terms(way=5, shots=1))
    return torch.zeros(terms, dtype=torch.float64, requires_grad=True)


def fit_calibration(runner: TaskRunner, seed: int, tasks: int = MOST_TASKS) -> Calibration | None:
    """Fit the calibration on every shape that the runner's data allows; None if it allows none."""
    tasks = min(tasks, MOST_TASKS)
    classes = len(runner.dataset)
    ways = sorted({min(way, classes) for way in WAYS if min(way, classes) > 1})
    tables = []
    for way in ways:
        for shot in SHOTS:
            table = measure_shape(runner, way, shot, seed, tasks)
            if table is not None:
                tables.append(table)
    if not tables:
        return None
    about = f"{tasks} tasks of each of {len(tables)} shapes from {runner.dataset.description}"
    return fit_laws(tables, about)


@torch.no_grad()
def measure_shape(
    runner: TaskRunner, way: int, shot: int, seed: int, tasks: int
) -> ShapeTables | None:
    """Answer tasks of one shape at all factors and temperatures; None if the data has too few."""
    smallest_class = int(runner.dataset.counts.min())
    queries = min(MOST_QUERIES // way, smallest_class - shot)
    if queries < 1:
        return None
    sampler = EpisodeSampler(runner.dataset, EpisodeSettings(way, shot, queries), seed)
    query = []
    left_out = []
    for number in range(tasks):
        inferred = runner.infer(sampler.draw(number, 1), range(number, number + 1))
        query.append(_query_table(runner, inferred))
        left_out.append(_left_out_table(runner, inferred))
    return ShapeTables(way, shot, torch.stack(query, 1), torch.stack(left_out, 1))


def _query_table(runner: TaskRunner, tasks: InferredTasks) -> Tensor:
    """Return the log probabilities of the labels of one task, (factors, queries, temperatures)."""
    table = []
    for factor in _factors(runner):
        widened = tasks.prior.widened(tasks.query.new_full((1,), factor))
        logits = sampled_logits(runner.model, widened, tasks.query.float(), QUERY_SAMPLES, 0)
        table.append(label_log_likelihoods(logits, tasks.labels, LOG_TEMPERATURES)[0])
    return torch.stack(table).cpu()


def _left_out_table(runner: TaskRunner, tasks: InferredTasks) -> Tensor:
    """Return the log likelihood of the left-out labels of one task, (factors, temperatures)."""
    factors = _factors(runner)
    smaller = runner.smaller_tasks(tasks, 0)
    if smaller is None:
        return torch.zeros(len(factors), len(LOG_TEMPERATURES))
    table = []
    for factor in factors:
        logits, labels = smaller.logits(runner.model, SAMPLES, 0, factor)
        table.append(label_log_likelihoods(logits, labels, LOG_TEMPERATURES).sum(0))
    return torch.stack(table).cpu()


def _factors(runner: TaskRunner) -> tuple[float, ...]:
    if runner.model.classifier.deterministic:
        return (1.0,)  # there is nothing to widen
    return FACTORS


def fit_laws(tables: list[ShapeTables], about: str) -> Calibration:
    """Choose the laws by which the queries are most probable, each shape counting the same."""
    laws = Laws.first()
    optimizer = torch.optim.Adam(vars(laws).values(), lr=STEP_SIZE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    for _ in range(STEPS):
        optimizer.zero_grad()
        losses = [_loss(table, laws) for table in tables]
        loss = torch.stack(losses).mean() + PENALTY * laws.sigma.square().sum()
        loss.backward()
        optimizer.step()
        schedule.step()
    return Calibration(
        about,
        ShapeLaw(*laws.sigma.tolist()),
        ShapeLaw(*laws.temperature.tolist()),
        float(laws.spread.detach()),
        max(table.shot for table in tables),
        max(table.way for table in tables),
    )


def _loss(table: ShapeTables, laws: Laws) -> Tensor:
    """Return the mean NLL of the queries of one shape.

    The temperature of a task is weighed by its left-out images, as that of a user's task is: they
    are answered by tasks of one shot less.
    """
    query = laws.look_up(table.query, table.way, table.shot)
    left_out = laws.look_up(table.left_out, table.way, max(1, table.shot - 1))
    log_weights = log_posterior_weights(left_out)  # (tasks, G)
    mixed = (log_weights[:, None] + query).logsumexp(-1)  # (tasks, queries)
    return -mixed.mean()


def _looked_up(table: Tensor, factor: Tensor, log_temperatures: Tensor) -> Tensor:
    """Interpolate a table (factors, ..., temperatures) linearly, to (..., G)."""
    at_factor = table[0]
    if len(table) > 1:
        lower, share = _between(torch.tensor(FACTORS, dtype=torch.float64), factor)
        at_factor = table[lower].lerp(table[lower + 1], share.to(table))
    lower, share = _between(LOG_TEMPERATURES, log_temperatures)
    share = share.to(table)
    return at_factor[..., lower] * (1 - share) + at_factor[..., lower + 1] * share


def _between(grid: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Return the positions in a grid just below values, and how far they are to the next."""
    inside = values.clamp(grid[0], grid[-1])
    lower = torch.searchsorted(grid, inside.detach(), right=True).sub(1).clamp(0, len(grid) - 2)
    return lower, (inside - grid[lower]) / (grid[lower + 1] - grid[lower])
