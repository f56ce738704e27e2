"""Section 4.1 of the paper: three training losses where the true posterior is known.

Generative process: psi ~ N(0, 1), y ~ N(psi, sigma_y^2). A task has K support and M query
observations. The inference network q_phi(psi | D) = N(mu, sigma^2) has [mu, log sigma^2] = W *
sum(y) + b, four numbers in all. Axes of tensors: S (one for each sigma_y), R (seeds), T (tasks),
then M observations or L samples; further networks stand in front.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence


@dataclass(frozen=True)
class Tasks:
    """Observations of T tasks for every sigma_y and seed.

    support_mean: (S, R, T). query: (S, R, T, M). Losses that are Gaussian in the queries need only
    their mean and their scatter sum_m (y_m - mean)^2, both (S, R, T). sigma_y: (S, 1, 1).
    """

    support_mean: Tensor
    query: Tensor
    query_mean: Tensor
    query_scatter: Tensor
    sigma_y: Tensor
    support_count: int

    @property
    def query_count(self) -> int:
        """M, the query observations of each task."""
        return self.query.shape[-1]

    @property
    def union_mean(self) -> Tensor:
        """Mean of the K + M observations of support and query, (S, R, T)."""
        total = self.support_count * self.support_mean + self.query_count * self.query_mean
        return total / (self.support_count + self.query_count)

    def select(self, rows: Tensor) -> "Tasks":
        """Return the tasks at these positions."""
        return replace(
            self,
            support_mean=self.support_mean[..., rows],
            query=self.query[..., rows, :],
            query_mean=self.query_mean[..., rows],
            query_scatter=self.query_scatter[..., rows],
        )


def make_tasks(standard: Tensor, sigma_y: Tensor, support: int) -> Tasks:
    """Make tasks by the generative process.

    `standard` is standard normal noise (R, T, 1 + K + M), `sigma_y` is (S, 1, 1). All sigma_y share
    the noise, so that panels differ by sigma_y alone.
    """
    psi = standard[..., :1]
    noise = standard[..., 1:]
    y = psi + sigma_y[..., None] * noise
    query = y[..., support:].contiguous()
    mean = query.mean(-1)
    scatter = (query - mean[..., None]).square().sum(-1)
    return Tasks(y[..., :support].mean(-1), query, mean, scatter, sigma_y, support)


def infer(phi: Tensor, mean: Tensor) -> Normal:
    """Return q_phi(psi | D), the inference network, given the mean of the observations (..., T).

    phi = [[w_mu, b_mu], [w_var, b_var]] is (..., 2, 2). The paper's input is the sum of the
    observations: W = w / count. Training w gives one step size to all four numbers.
    """
    mu = phi[..., 0, :1] * mean + phi[..., 0, 1:]
    log_variance = phi[..., 1, :1] * mean + phi[..., 1, 1:]
    return Normal(mu, (0.5 * log_variance).exp(), validate_args=False)


def true_posterior(mean: Tensor, sigma_y: Tensor, count: int) -> Normal:
    """Return p(psi | D) given the mean of `count` observations.

    1 / variance = 1 + count / sigma_y^2.
    """
    variance = sigma_y.square() / (count + sigma_y.square())
    return Normal(
        mean * count / (count + sigma_y.square()),
        variance.sqrt().expand_as(mean),
        validate_args=False,
    )


def query_log_likelihood(
    tasks: Tasks, center: Tensor, variance: Tensor, spread: Tensor | float = 0.0
) -> Tensor:
    """Return sum_m log N(y_m; c, variance), averaged over values of c.

    The values have the mean `center` and the variance `spread`. By Pythagoras the sum of squares
    needs only the mean and the scatter of the queries.
    """
    squares = tasks.query_scatter + tasks.query_count * (
        (tasks.query_mean - center).square() + spread
    )
    return -0.5 * (tasks.query_count * (2 * torch.pi * variance).log() + squares / variance)


def exact_loss(phi: Tensor, tasks: Tasks) -> Tensor:
    """Return the exact loss, by Eq. (synthetic_loss_analytical): phi (S, R, 2, 2) -> (S, R)."""
    q = infer(phi, tasks.support_mean)
    log_marginal = query_log_likelihood(tasks, q.mean, q.variance + tasks.sigma_y.square())
    return -log_marginal.mean(-1) / tasks.query_count


def monte_carlo_loss(phi: Tensor, tasks: Tasks, epsilon: Tensor) -> Tensor:
    """Return the log of the mean over L samples, Eq. (synthetic_loss_MC).

    phi (S, R, 2, 2), epsilon (R, T, L) -> (S, R).

    Around mu, with r = y - mu and d_l = psi_l - mu in units of sigma_y: N(y; psi_l) = N(y; mu)
    exp(r d_l - d_l^2 / 2).
    """
    q = infer(phi, tasks.support_mean)
    residual = (tasks.query - q.mean[..., None]) / tasks.sigma_y[..., None]  # (S, R, T, M)
    deviation = q.stddev[..., None] * epsilon / tasks.sigma_y[..., None]  # (S, R, T, L)
    exponents = torch.baddbmm(  # (S * R * T, M, L) in one pass over memory
        (-0.5 * deviation.square()).flatten(0, 2)[:, None, :],
        residual.flatten(0, 2)[:, :, None],
        deviation.flatten(0, 2)[:, None, :],
    )
    log_mean: Tensor = (
        (exponents.logsumexp(-1) - math.log(epsilon.shape[-1])).sum(-1).view_as(q.mean)
    )
    log_center = query_log_likelihood(tasks, q.mean, tasks.sigma_y.square())
    return -(log_center + log_mean).mean(-1) / tasks.query_count


def variational_loss(
    phi: Tensor, tasks: Tasks, epsilon_mean: Tensor, epsilon_spread: Tensor
) -> Tensor:
    """Return the negative evidence lower bound, Eq. (synthetic_loss_CVAE).

    phi (2, ..., S, R, 2, 2) -> (..., S, R). phi[0] belongs to q_phi(psi | D), phi[1] is the second
    set phi' of q_phi'(psi | D~, D). The log-likelihood is quadratic in psi, so the L samples enter
    only through the mean and the variance over l of their noise, (..., R, T).
    """
    prior = infer(phi[0], tasks.support_mean)
    posterior = infer(phi[1], tasks.union_mean)
    psi_mean = posterior.mean + posterior.stddev * epsilon_mean
    psi_spread = posterior.variance * epsilon_spread
    reconstruction = query_log_likelihood(tasks, psi_mean, tasks.sigma_y.square(), psi_spread)
    return -(reconstruction - kl_divergence(posterior, prior)).mean(-1)


def zero_variance_limit(sigma_y: float, support: int) -> float:
    """Return L* = 1 + K + sigma_y^2.

    With up to L* samples the Monte Carlo loss prefers variance zero (docs/synthetic.md).
    """
    return 1 + support + sigma_y**2
