"""Training by the losses of section 4.1 ends where it must."""

import math

import pytest
import torch

from samovar.experiments.paper.synthetic.model import zero_variance_limit
from samovar.experiments.paper.synthetic.study import (
    SyntheticTraining,
    compare_with_truth,
    synthetic_study,
    train_exact,
    train_monte_carlo,
    train_variational,
)
from samovar.settings.synthetic import SyntheticSettings

SUPPORT, QUERY = 5, 15


@pytest.mark.parametrize("samples", [1, 2, 10])
def test_moments_of_the_noise_are_those_of_so_many_normals(samples):
    settings = SyntheticSettings(samples=(samples,), seeds=200, batch=250)
    mean, spread = SyntheticTraining(settings, 200).epsilon_moments(step=3)
    count = mean.numel()
    assert mean.mean().item() == pytest.approx(0, abs=4 / math.sqrt(count * samples))
    assert mean.var().item() == pytest.approx(1 / samples, rel=6 / math.sqrt(count))
    assert spread.mean().item() == pytest.approx(1 - 1 / samples, abs=6 / math.sqrt(count))
    assert spread.var().item() == pytest.approx(2 * (samples - 1) / samples**2, rel=0.05)


def ratio(phi: torch.Tensor, settings: SyntheticSettings) -> torch.Tensor:
    """Variance ratio, mean over the seeds."""
    return compare_with_truth(phi, settings)["variance_ratio"].mean(-1)


def test_exact_and_variational_end_at_the_truth_whatever_the_start():
    """From ten times too wide and ten times too narrow, on fresh tasks, also for L = 1."""
    for start in (10 / 21, 0.1 / 21):
        settings = SyntheticSettings(
            sigma_y=(0.5,), samples=(1, 10), fresh=True, start_variance=start, steps=800
        )
        training = SyntheticTraining(settings, seeds=20)
        assert ratio(train_exact(training), settings).item() == pytest.approx(1, abs=0.02)
        assert ratio(train_variational(training), settings).flatten().tolist() == pytest.approx(
            [1, 1], abs=0.02
        )


@pytest.mark.parametrize("sigma_y", [0.1, 1.0])
def test_monte_carlo_collapses_below_the_limit_and_not_above(sigma_y):
    """L = 4 < L* < 20, on the population of tasks, from starts on both sides of the truth."""
    variance = sigma_y**2 / (SUPPORT + sigma_y**2)
    assert 4 < zero_variance_limit(sigma_y, SUPPORT) < 20
    ends = []
    for start in (10 * variance, variance / 10):
        settings = SyntheticSettings(
            sigma_y=(sigma_y,), fresh=True, start_variance=start, steps=1000
        )
        training = SyntheticTraining(settings, seeds=6)
        assert ratio(train_monte_carlo(training, 4), settings).item() < 0.05
        ends.append(ratio(train_monte_carlo(training, 20), settings).item())
    assert ends[0] > 0.4
    assert ends[0] == pytest.approx(ends[1], abs=0.03)


def test_a_network_trains_as_it_would_alone():
    """Seed 0 ends at the same numbers whether or not others are trained beside it."""
    alone = SyntheticSettings(sigma_y=(0.5,), samples=(3,), steps=20)
    together = SyntheticSettings(sigma_y=(0.1, 0.5), samples=(1, 3), steps=20)
    one, many = SyntheticTraining(alone, seeds=1), SyntheticTraining(together, seeds=4)
    close = {"rtol": 1e-4, "atol": 1e-4}
    torch.testing.assert_close(train_exact(one)[0, 0], train_exact(many)[1, 0], **close)
    torch.testing.assert_close(
        train_variational(one)[0, 0, 0], train_variational(many)[1, 1, 0], **close
    )
    torch.testing.assert_close(
        train_monte_carlo(one, 3)[0, 0], train_monte_carlo(many, 3)[1, 0], **close
    )


def test_the_same_seed_gives_the_same_result_and_another_another():
    settings = SyntheticSettings(
        sigma_y=(0.5,), samples=(1, 2), seeds=3, monte_carlo_seeds=2, steps=5, new_tasks=10
    )
    shares = []
    result = synthetic_study(settings, lambda _, share: shares.append(share))
    assert result == synthetic_study(settings)
    assert (
        result["results"]
        != synthetic_study(SyntheticSettings(**(result["settings"] | {"seed": 1})))["results"]
    )
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)


def test_compare_with_truth_finds_the_truth():
    """A network that is the true posterior has ratio 1, no slope, no error and no divergence."""
    settings = SyntheticSettings(sigma_y=(0.5,), new_tasks=100)
    variance = 0.25 / 5.25
    phi = torch.tensor([[5 / 5.25, 0.0], [0.0, math.log(variance)]])[None, None]
    figures = {name: value.item() for name, value in compare_with_truth(phi, settings).items()}
    assert figures == pytest.approx(
        {"variance_ratio": 1, "log_variance_slope": 0, "mean_error": 0, "kl": 0}, abs=1e-5
    )
