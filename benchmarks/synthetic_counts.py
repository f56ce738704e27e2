"""Does an amortized network know how many observations a mean is taken over?

In the process of section 4.1 (psi ~ N(0, 1), y ~ N(psi, sigma_y^2)) the variance of the exact
posterior, sigma_y^2 / (K + sigma_y^2), falls with the number K of observations. One network
q(psi | mean) or q(psi | mean, log K) is trained by the evidence lower bound on tasks of all K at
once; prior (K observations) and posterior (K + M) share it, as in SAMOVAR. Prints JSON: the ratio
of its variance to the true one at each K, by network and seed.

    python benchmarks/synthetic_counts.py
"""

import json
from dataclasses import dataclass

import torch
import tyro
from torch import Tensor, nn
from torch.distributions import Normal, kl_divergence

COUNTS = (1, 2, 5, 10, 20)


@dataclass
class Arguments:
    """How it is trained."""

    sigma_y: tuple[float, ...] = (0.1, 0.5, 1.0)
    seeds: int = 3
    steps: int = 3000
    tasks: int = 512
    """Tasks of each update."""
    queries: int = 10
    """M, the query observations of a task."""


def make_network(*, counted: bool) -> nn.Sequential:
    """Return a small network from the mean, and log K if `counted`, to mu and log sigma^2."""
    return nn.Sequential(
        nn.Linear(1 + counted, 32), nn.ELU(), nn.Linear(32, 32), nn.ELU(), nn.Linear(32, 2)
    )


def infer(network: nn.Sequential, mean: Tensor, counts: Tensor, *, counted: bool) -> Normal:
    """Return q(psi | D) of tasks with these means and numbers of observations, (T,)."""
    inputs = mean[:, None]
    if counted:
        inputs = torch.stack([mean, counts.log()], 1)
    mu, log_variance = network(inputs).unbind(1)
    return Normal(mu, (0.5 * log_variance).exp())


def train(sigma_y: float, seed: int, arguments: Arguments, *, counted: bool) -> nn.Sequential:
    """Train one network on tasks of all K by the evidence lower bound with beta = 1."""
    torch.manual_seed(seed)
    network = make_network(counted=counted)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, arguments.steps)
    queries = arguments.queries
    for _ in range(arguments.steps):
        counts = torch.tensor(COUNTS)[torch.randint(len(COUNTS), (arguments.tasks,))].float()
        psi = torch.randn(arguments.tasks)
        support = psi + sigma_y / counts.sqrt() * torch.randn(arguments.tasks)
        query = psi[:, None] + sigma_y * torch.randn(arguments.tasks, queries)
        union = (counts * support + query.sum(1)) / (counts + queries)
        prior = infer(network, support, counts, counted=counted)
        posterior = infer(network, union, counts + queries, counted=counted)
        sample = posterior.rsample()[:, None]
        reconstruction = Normal(sample, sigma_y).log_prob(query).sum(1)
        loss = (kl_divergence(posterior, prior) - reconstruction).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return network


@torch.no_grad()
def variance_ratio(network: nn.Sequential, sigma_y: float, count: int, *, counted: bool) -> float:
    """Return the geometric mean of the network's variance over the true one."""
    torch.manual_seed(0)
    mean = torch.randn(10_000) + sigma_y / count**0.5 * torch.randn(10_000)
    q = infer(network, mean, torch.full((10_000,), float(count)), counted=counted)
    true_variance = sigma_y**2 / (count + sigma_y**2)
    return float((q.variance / true_variance).log().mean().exp())


def main() -> None:
    """Train and print."""
    arguments = tyro.cli(Arguments, description=__doc__)
    torch.set_num_threads(1)
    rows = []
    for sigma_y in arguments.sigma_y:
        for counted in (False, True):
            for seed in range(arguments.seeds):
                network = train(sigma_y, seed, arguments, counted=counted)
                ratios = {}
                for count in COUNTS:
                    ratio = variance_ratio(network, sigma_y, count, counted=counted)
                    ratios[count] = round(ratio, 3)
                row = {"sigma_y": sigma_y, "sees_count": counted, "seed": seed}
                rows.append(row | {"variance_ratio": ratios})
    print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
