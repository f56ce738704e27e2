"""The study of section 4.1: which of the three losses keeps the variance?

An inference network has four numbers, so thousands of them, one per sigma_y, seed and number of
samples L, train as one batched computation. Adam works element by element and the losses of the
networks are summed: each trains exactly as it would alone.
"""

import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.distributions import kl_divergence

from samovar.core.progress import Progress, silent
from samovar.core.randomness import generator
from samovar.experiments.paper.synthetic.model import (
    Tasks,
    exact_loss,
    infer,
    make_tasks,
    monte_carlo_loss,
    true_posterior,
    variational_loss,
    zero_variance_limit,
)
from samovar.settings.synthetic import SyntheticSettings

Tick = Callable[[], None]
"""Called after every update."""


def _silent() -> None:
    """Ignore an update: nobody watches."""


class SyntheticTraining:
    """What the three losses share: the tasks of every seed, batches, the noise, and the loop."""

    def __init__(self, settings: SyntheticSettings, seeds: int) -> None:
        self.settings = settings
        self.seeds = seeds
        self.sigma_y = torch.tensor(settings.sigma_y)[:, None, None]
        self.batch = min(settings.batch, settings.tasks)
        self.fixed = self._draw("training tasks", 0, settings.tasks)

    def _draw(self, purpose: str, step: int, tasks: int) -> Tasks:
        numbers_per_task = 1 + self.settings.support + self.settings.query
        noise = self._standard_normal(purpose, step, tasks, numbers_per_task)
        return make_tasks(noise, self.sigma_y, self.settings.support)

    def _noise(self, purpose: str, step: int) -> np.random.Generator:
        return generator(self.settings.seed, f"synthetic {purpose}", step)

    def _standard_normal(self, purpose: str, step: int, *shape: int) -> Tensor:
        # The first axis is the seeds: seed r sees the same numbers however many seeds are trained
        # beside it.
        noise = self._noise(purpose, step).standard_normal((self.seeds, *shape), dtype=np.float32)
        return torch.from_numpy(noise)

    def tasks(self, step: int) -> Tasks:
        """Return the tasks of an update: the next of the fixed ones in turn, or fresh ones."""
        if self.settings.fresh:
            return self._draw("fresh tasks", step, self.batch)
        # The fixed tasks are independent draws, so their order needs no shuffling.
        rows = (torch.arange(self.batch) + step * self.batch) % self.settings.tasks
        return self.fixed.select(rows)

    def epsilon(self, step: int, samples: int) -> Tensor:
        """Return the noise of L samples, (R, T, L); it does not depend on other L in the study."""
        return self._standard_normal(f"epsilon {samples}", step, self.batch, samples)

    def epsilon_moments(self, step: int) -> tuple[Tensor, Tensor]:
        """Return mean and variance over l of L standard normals, for all L of the study at once.

        Both are (L, 1, R, T). By Cochran's theorem the two are independent, N(0, 1 / L) and
        chi^2_{L-1} / L: two draws instead of L.
        """
        means = []
        spreads = []
        for samples in self.settings.samples:
            normal = self._standard_normal(f"epsilon mean {samples}", step, self.batch)
            means.append(normal / samples**0.5)
            source = self._noise(f"epsilon spread {samples}", step)
            half_chi_squared = source.standard_gamma(
                (samples - 1) / 2, (self.seeds, self.batch), dtype=np.float32
            )
            spreads.append(torch.from_numpy(half_chi_squared) * (2 / samples))
        return torch.stack(means)[:, None], torch.stack(spreads)[:, None]

    def run(
        self, axes: tuple[int, ...], loss: Callable[[Tensor, int], Tensor], tick: Tick
    ) -> Tensor:
        """Train networks phi (*axes, S, R, 2, 2) from mu = 0 and variance = `start_variance`.

        The stopping rule: `steps` updates, the step size constant for three tenths of them, then
        falling geometrically to a thousandth. Where the best variance is zero its logarithm has no
        end: it falls as far as steps carry it. Adam forgets squared gradients within some twenty
        updates (0.95), since the first ones, when mu is far off, are larger than the later ones by
        1 / sigma_y^2.
        """
        phi = torch.zeros(*axes, len(self.sigma_y), self.seeds, 2, 2)
        phi[..., 1, 1] = math.log(self.settings.start_variance)
        phi.requires_grad_()
        optimizer = torch.optim.Adam([phi], lr=self.settings.learning_rate, betas=(0.9, 0.95))
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min(1.0, 1e-3 ** ((step / self.settings.steps - 0.3) / 0.7))
        )
        for step in range(self.settings.steps):
            optimizer.zero_grad()
            torch.autograd.backward(loss(phi, step).sum())
            optimizer.step()
            schedule.step()
            tick()
        return phi.detach()


def train_exact(training: SyntheticTraining, tick: Tick = _silent) -> Tensor:
    """Return networks (S, R, 2, 2) trained by the exact loss."""
    return training.run((), lambda phi, step: exact_loss(phi, training.tasks(step)), tick)


def train_variational(training: SyntheticTraining, tick: Tick = _silent) -> Tensor:
    """Return networks (L, S, R, 2, 2) trained by the variational loss, without the second set."""

    def loss(phi: Tensor, step: int) -> Tensor:
        return variational_loss(phi, training.tasks(step), *training.epsilon_moments(step))

    return training.run((2, len(training.settings.samples)), loss, tick)[0]


def train_monte_carlo(training: SyntheticTraining, samples: int, tick: Tick = _silent) -> Tensor:
    """Return networks (S, R, 2, 2) trained by the Monte Carlo loss with this L."""

    def loss(phi: Tensor, step: int) -> Tensor:
        return monte_carlo_loss(phi, training.tasks(step), training.epsilon(step, samples))

    return training.run((), loss, tick)


def compare_with_truth(phi: Tensor, settings: SyntheticSettings) -> dict[str, Tensor]:
    """Return how far networks (..., S, R, 2, 2) are from the true posterior on new tasks.

    Each metric is (..., S, R).
    """
    seeds = phi.shape[-3]
    count = settings.support
    sigma_y = torch.tensor(settings.sigma_y)[:, None, None]
    source = generator(settings.seed, "synthetic new tasks")
    noise = torch.from_numpy(
        source.standard_normal((seeds, settings.new_tasks, 2), dtype=np.float32)
    )
    support_mean = noise[..., 0] + sigma_y / count**0.5 * noise[..., 1]
    q = infer(phi, support_mean)
    p = true_posterior(support_mean, sigma_y, count)
    return {
        "variance_ratio": (q.variance.log() - p.variance.log()).mean(-1).exp(),
        "log_variance_slope": phi[..., 1, 0] / count,
        "mean_error": ((q.mean - p.mean) / p.stddev).square().mean(-1).sqrt(),
        "kl": kl_divergence(q, p).mean(-1),
    }


def _rows(
    phi: Tensor, settings: SyntheticSettings, method: str, samples: int | None
) -> list[dict[str, Any]]:
    """Return a row of results for each sigma_y: mean and deviation of every metric over seeds."""
    seeds = phi.shape[-3]
    rows: list[dict[str, Any]] = []
    for sigma_y in settings.sigma_y:
        rows.append({"sigma_y": sigma_y, "method": method, "samples": samples})
    for name, metric in compare_with_truth(phi, settings).items():
        values = metric.double()
        means = values.mean(-1)
        deviations = values.std(-1, correction=0)
        for i, row in enumerate(rows):
            row[name] = {"mean": means[i].item(), "std": deviations[i].item(), "seeds": seeds}
    return rows


def _work(settings: SyntheticSettings, monte_carlo_seeds: int) -> dict[str, float]:
    """Return the work of an update in numbers per task, for the progress display.

    20 stands for the sums that a loss works on.
    """
    work = {
        "exact": 20.0 * settings.seeds,
        "variational": 60.0 * len(settings.samples) * settings.seeds,
    }
    for samples in settings.samples:
        numbers = settings.query * (20.0 + samples)
        work[_monte_carlo(samples)] = numbers * monte_carlo_seeds
    return work


def _monte_carlo(samples: int) -> str:
    return f"Monte Carlo, L = {samples}"


def synthetic_study(settings: SyntheticSettings, progress: Progress = silent) -> dict[str, Any]:
    """Train all networks of the study and compare them with the truth.

    The result is what `synthetic.json` holds.

    >>> tiny = SyntheticSettings((0.5,), samples=(1,), seeds=2, monte_carlo_seeds=2, steps=3)
    >>> result = synthetic_study(tiny)
    >>> [row["method"] for row in result["results"]]
    ['exact', 'variational', 'monte_carlo']
    """
    cheap = SyntheticTraining(settings, settings.seeds)
    costly = SyntheticTraining(settings, min(settings.monte_carlo_seeds, settings.seeds))
    work = _work(settings, costly.seeds)
    total = sum(work.values()) * settings.steps
    done = 0.0

    def tick_for(name: str) -> Tick:
        def tick() -> None:
            nonlocal done
            done += work[name]
            progress(name, done / total)

        return tick

    results = _rows(train_exact(cheap, tick_for("exact")), settings, "exact", None)
    variational = train_variational(cheap, tick_for("variational"))
    for phi, samples in zip(variational, settings.samples, strict=True):
        results += _rows(phi, settings, "variational", samples)
    for samples in settings.samples:
        phi = train_monte_carlo(costly, samples, tick_for(_monte_carlo(samples)))
        results += _rows(phi, settings, "monte_carlo", samples)
    theory = []
    for sigma_y in settings.sigma_y:
        limit = zero_variance_limit(sigma_y, settings.support)
        theory.append({"sigma_y": sigma_y, "zero_variance_limit": limit})
    return {"format": 1, "settings": asdict(settings), "theory": theory, "results": results}
