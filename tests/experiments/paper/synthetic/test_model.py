"""The losses of section 4.1 equal independent computations."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm
from torch.distributions import Normal, kl_divergence

from samovar.experiments.paper.synthetic.model import (
    exact_loss,
    infer,
    make_tasks,
    monte_carlo_loss,
    true_posterior,
    variational_loss,
)

SUPPORT, QUERY = 5, 15


def tasks_of(sigma_y: float, seed: int, tasks: int = 4):
    """Tasks (1, 1, T) in double precision."""
    noise = torch.from_numpy(
        np.random.default_rng(seed).standard_normal((1, tasks, 1 + SUPPORT + QUERY))
    )
    return make_tasks(noise, torch.tensor([[[sigma_y]]], dtype=torch.float64), SUPPORT)


def network(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float64).view(1, 1, 2, 2)


numbers = st.floats(-1, 1)


networks = st.builds(network, numbers, numbers, numbers, numbers)


sigmas = st.sampled_from([0.1, 0.5, 1.0, 2.0])


seeds = st.integers(0, 1000)


@given(networks, sigmas, seeds)
@settings(max_examples=15)
def test_exact_loss_is_the_numerical_integral(phi, sigma_y, seed):
    tasks = tasks_of(sigma_y, seed, tasks=1)
    q = infer(phi, tasks.support_mean)
    mu, sigma = q.mean.item(), q.stddev.item()

    def log_marginal(y: float) -> float:
        def integrand(psi: float) -> float:
            return norm.pdf(y, psi, sigma_y) * norm.pdf(psi, mu, sigma)

        reach = 12 * (sigma + sigma_y)
        peaks = sorted({mu, y})
        return math.log(
            quad(integrand, min(peaks) - reach, max(peaks) + reach, points=peaks, limit=400)[0]
        )

    expected = -np.mean([log_marginal(y) for y in tasks.query.flatten()[:3].tolist()])
    first_three = make_like(tasks, tasks.query[..., :3])
    assert exact_loss(phi, first_three).item() == pytest.approx(expected, rel=1e-6)


def make_like(tasks, query):
    """The same tasks with other queries."""
    mean = query.mean(-1)
    scatter = (query - mean[..., None]).square().sum(-1)
    return type(tasks)(tasks.support_mean, query, mean, scatter, tasks.sigma_y, tasks.support_count)


@given(networks, sigmas, seeds, st.integers(1, 7))
@settings(max_examples=25)
def test_losses_equal_the_formulas_written_out(phi, sigma_y, seed, samples):
    """The batched forms use sums and centred exponents; the two equations are as printed."""
    tasks = tasks_of(sigma_y, seed)
    epsilon = torch.from_numpy(np.random.default_rng(seed + 1).standard_normal((1, 4, samples)))
    prior = infer(phi, tasks.support_mean)
    psi = prior.mean[..., None] + prior.stddev[..., None] * epsilon  # (1, 1, T, L)
    likelihood = Normal(psi[..., None, :], sigma_y).log_prob(tasks.query[..., None]).exp()
    if (likelihood.mean(-1) > 1e-250).all():
        printed = -likelihood.mean(-1).log().mean()
        assert monte_carlo_loss(phi, tasks, epsilon).item() == pytest.approx(
            printed.item(), rel=1e-9
        )

    both = torch.stack([phi, phi.flip(-1)])
    posterior = infer(both[1], tasks.union_mean)
    psi = posterior.mean[..., None] + posterior.stddev[..., None] * epsilon
    reconstruction = (
        Normal(psi[..., None, :], sigma_y).log_prob(tasks.query[..., None]).mean(-1).sum(-1)
    )
    printed = -(reconstruction - kl_divergence(posterior, prior)).mean()
    spread, mean = torch.var_mean(epsilon, -1, correction=0)
    assert variational_loss(both, tasks, mean, spread).item() == pytest.approx(
        printed.item(), rel=1e-9
    )


@given(numbers, numbers, numbers, numbers)
def test_divergence_of_two_normals_in_closed_form(mu_q, log_variance_q, mu_p, log_variance_p):
    q = Normal(torch.tensor(mu_q).double(), torch.tensor(log_variance_q / 2).double().exp())
    p = Normal(torch.tensor(mu_p).double(), torch.tensor(log_variance_p / 2).double().exp())
    v_q, v_p = math.exp(log_variance_q), math.exp(log_variance_p)
    closed_form = 0.5 * (math.log(v_p / v_q) + (v_q + (mu_q - mu_p) ** 2) / v_p - 1)
    assert kl_divergence(q, p).item() == pytest.approx(closed_form, rel=1e-5, abs=1e-6)


def test_monte_carlo_loss_falls_to_the_exact_one_as_samples_grow():
    tasks, phi = tasks_of(0.5, seed=0, tasks=2000), network(0.9, 0.1, 0.05, -2.5)
    exact = exact_loss(phi, tasks).item()
    noise = np.random.default_rng(1)

    def gap(samples: int) -> float:
        return (
            monte_carlo_loss(
                phi, tasks, torch.from_numpy(noise.standard_normal((1, 2000, samples)))
            ).item()
            - exact
        )

    gaps = [gap(samples) for samples in (1, 10, 100, 1000)]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > 0.05
    assert abs(gaps[-1]) < 0.003


@given(networks, networks, sigmas, seeds)
@settings(max_examples=50)
def test_elbo_is_never_above_the_exact_log_marginal_of_the_joint(
    prior_phi, posterior_phi, sigma_y, seed
):
    """The bound's samples are integrated out.

    log p(D~ | D) is Gaussian with covariance sigma^2 11' + sigma_y^2 I.
    """
    tasks = tasks_of(sigma_y, seed, tasks=1)
    prior = infer(prior_phi, tasks.support_mean)
    covariance = prior.variance.item() * np.ones((QUERY, QUERY)) + sigma_y**2 * np.eye(QUERY)
    joint = multivariate_normal.logpdf(
        tasks.query.flatten().numpy(), np.full(QUERY, prior.mean.item()), covariance
    )
    expectation = (
        torch.zeros(1, 1, 1).double(),
        torch.ones(1, 1, 1).double(),
    )  # mean and variance of the noise
    elbo = -variational_loss(torch.stack([prior_phi, posterior_phi]), tasks, *expectation).item()
    assert elbo <= joint + 1e-6 * abs(joint)


@given(sigmas, seeds)
def test_elbo_is_tight_at_the_true_posterior(sigma_y, seed):
    """Where prior and posterior networks are exact, the bound equals the marginal."""
    tasks = tasks_of(sigma_y, seed, tasks=1)

    def exact_network(count: int) -> torch.Tensor:
        variance = sigma_y**2 / (count + sigma_y**2)
        return network(count / (count + sigma_y**2), 0, 0, math.log(variance))

    prior = true_posterior(tasks.support_mean, tasks.sigma_y, SUPPORT)
    covariance = prior.variance.item() * np.ones((QUERY, QUERY)) + sigma_y**2 * np.eye(QUERY)
    joint = multivariate_normal.logpdf(
        tasks.query.flatten().numpy(), np.full(QUERY, prior.mean.item()), covariance
    )
    expectation = torch.zeros(1, 1, 1).double(), torch.ones(1, 1, 1).double()
    phi = torch.stack([exact_network(SUPPORT), exact_network(SUPPORT + QUERY)])
    assert -variational_loss(phi, tasks, *expectation).item() == pytest.approx(joint, rel=1e-9)


@given(sigmas, seeds)
def test_true_posterior_by_bayes_rule(sigma_y, seed):
    """log prior + log likelihood - log posterior is the same constant for every psi."""
    y = np.random.default_rng(seed).standard_normal(SUPPORT)
    posterior = true_posterior(
        torch.tensor(y.mean()), torch.tensor(sigma_y, dtype=torch.float64), SUPPORT
    )
    psi = np.linspace(-2, 2, 5)
    log_joint = norm.logpdf(psi) + norm.logpdf(y[:, None], psi, sigma_y).sum(0)
    evidence = log_joint - posterior.log_prob(torch.from_numpy(psi)).numpy()
    np.testing.assert_allclose(evidence, evidence[0], rtol=1e-6)


def test_the_limit_is_where_the_slope_of_the_monte_carlo_loss_changes_sign():
    """At the true mean and a small variance v.

    The loss minus that of variance zero is proportional to L* - L.
    """
    sigma_y, tasks = 0.5, 20_000
    data = tasks_of(sigma_y, seed=5, tasks=tasks)
    mean_weight = SUPPORT / (SUPPORT + sigma_y**2)
    small = network(mean_weight, 0, 0, math.log(1e-3))
    none = network(mean_weight, 0, 0, math.log(1e-12))
    noise = np.random.default_rng(6)

    def slope(samples: int) -> float:
        half = torch.from_numpy(noise.standard_normal((1, tasks, samples)))
        pairs = [
            monte_carlo_loss(small, data, sign * half) for sign in (1, -1)
        ]  # antithetic, for less noise
        return (sum(pairs) / 2 - monte_carlo_loss(none, data, half)).item()

    assert slope(3) > 0
    assert slope(25) < 0
