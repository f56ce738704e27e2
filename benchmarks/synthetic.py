"""Time the batched synthetic study against a plain loop over its networks; prints JSON.

Both train the same networks (same tasks, same noise distribution, same number of updates) on the
default grid. Only the number of updates is cut down, so that the plain loop ends.

    python benchmarks/synthetic.py --steps 10
"""

import json
import time
from dataclasses import dataclass

import torch
import tyro
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from samovar.core.allocator import tune_allocator
from samovar.experiments.paper.synthetic.study import (
    SyntheticTraining,
    train_exact,
    train_monte_carlo,
    train_variational,
)
from samovar.settings.synthetic import SyntheticSettings


@dataclass
class Arguments:
    """What to train."""

    steps: int = 10
    """Updates of every network."""
    seeds: int = 100
    """Seeds for the exact and the variational loss."""
    monte_carlo_seeds: int = 20
    """Seeds for the Monte Carlo loss."""


def plain_loss(
    method: str, phi: Tensor, support: Tensor, query: Tensor, sigma_y: float, samples: int
) -> Tensor:
    """Return one of the three losses, as one would write it for a single network.

    support (T, K), query (T, M).
    """

    def network(parameters: Tensor, observations: Tensor) -> Normal:
        mu, log_variance = parameters[:, :1] * observations.mean(-1) + parameters[:, 1:]
        return Normal(mu, (0.5 * log_variance).exp())

    prior = network(phi[0], support)
    if method == "exact":
        deviation = (prior.variance + sigma_y**2).sqrt()
        marginal = Normal(prior.mean[:, None], deviation[:, None])
        return -marginal.log_prob(query).mean()
    if method == "monte_carlo":
        psi = prior.rsample((samples,))
        log_likelihood = Normal(psi[..., None], sigma_y).log_prob(query)
        # Without the constant log L, which has no gradient.
        return -log_likelihood.logsumexp(0).mean()
    posterior = network(phi[1], torch.cat([support, query], -1))
    psi = posterior.rsample((samples,))
    reconstruction = Normal(psi[..., None], sigma_y).log_prob(query).sum(-1).mean(0)
    return -(reconstruction - kl_divergence(posterior, prior)).mean()


def train_plain(settings: SyntheticSettings, method: str, sigma_y: float, samples: int) -> Tensor:
    """Train one network of one seed."""
    psi = torch.randn(settings.tasks, 1)
    y = psi + sigma_y * torch.randn(settings.tasks, settings.support + settings.query)
    support, query = y.split([settings.support, settings.query], -1)
    phi = torch.zeros(2, 2, 2, requires_grad=True)
    optimizer = torch.optim.Adam([phi], lr=settings.learning_rate, betas=(0.9, 0.95))
    for step in range(settings.steps):
        rows = (torch.arange(settings.batch) + step * settings.batch) % settings.tasks
        optimizer.zero_grad()
        loss = plain_loss(method, phi, support[rows], query[rows], sigma_y, samples)
        torch.autograd.backward(loss)
        optimizer.step()
    return phi.detach()


def all_plain(settings: SyntheticSettings) -> int:
    """Train every network of the study in turn, and return how many there are."""
    networks = [("exact", 1)] * settings.seeds
    for samples in settings.samples:
        networks += [("variational", samples)] * settings.seeds
        networks += [("monte_carlo", samples)] * settings.monte_carlo_seeds
    for sigma_y in settings.sigma_y:
        for method, samples in networks:
            train_plain(settings, method, sigma_y, samples)
    return len(networks) * len(settings.sigma_y)


def all_batched(settings: SyntheticSettings) -> None:
    """Train the same networks as the study does."""
    cheap = SyntheticTraining(settings, settings.seeds)
    train_exact(cheap)
    train_variational(cheap)
    costly = SyntheticTraining(settings, settings.monte_carlo_seeds)
    # Only the Monte Carlo loss has a cost that grows with L, so each L is a batch of its own.
    for samples in settings.samples:
        train_monte_carlo(costly, samples)


def main(arguments: Arguments) -> None:
    """Time both and print the ratio."""
    settings = SyntheticSettings(
        steps=arguments.steps, seeds=arguments.seeds, monte_carlo_seeds=arguments.monte_carlo_seeds
    )
    all_batched(settings)  # warm-up
    started = time.perf_counter()
    all_batched(settings)
    batched = time.perf_counter() - started
    started = time.perf_counter()
    networks = all_plain(settings)
    plain = time.perf_counter() - started
    result = {
        "networks": networks,
        "updates_each": settings.steps,
        "plain_seconds": round(plain, 2),
        "batched_seconds": round(batched, 2),
        "plain_over_batched": round(plain / batched, 1),
        "threads": torch.get_num_threads(),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    tune_allocator()
    main(tyro.cli(Arguments))
