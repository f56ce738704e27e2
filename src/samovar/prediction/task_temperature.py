"""The temperature of one task, learned from its own support.

How hard a task is differs between users' images more than anything learned elsewhere can know. The
support tells: each image whose class has another is classified by the others, and the likelihood of
the labels that are left out weighs a grid of temperatures. The prior is log-normal around the
temperature that is usual for a task of this shape. With one image of each class nothing can be left
out, and the prior decides.
"""

import math

import torch
from torch import Tensor

from samovar.models.closed_form import GRID, WIDEST


def deviations(spread: float) -> Tensor:
    """Return the grid of log temperatures, relative to the usual one: (GRID,)."""
    return spread * torch.linspace(-WIDEST, WIDEST, GRID, dtype=torch.float64)


def prior_weights() -> Tensor:
    """Return the weights of the grid before anything is left out, (GRID,)."""
    return _log_prior().softmax(0)


def posterior_weights(log_likelihoods: Tensor) -> Tensor:
    """Return the weights of the grid by the log likelihoods of left-out labels, (..., GRID)."""
    return log_posterior_weights(log_likelihoods).exp()


def log_posterior_weights(log_likelihoods: Tensor) -> Tensor:
    """Return the logarithms of `posterior_weights`, which are finite where those vanish."""
    return (_log_prior() + log_likelihoods.double()).log_softmax(-1)


def _log_prior() -> Tensor:
    # The grid is in standard deviations of the prior, whatever its spread.
    return -0.5 * deviations(1.0).square()


def label_log_likelihoods(logits: Tensor, labels: Tensor, log_temperatures: Tensor) -> Tensor:
    """Return the log probability of each label at each temperature, (..., Q, G).

    Args:
        logits: Of sampled classifiers, (..., L, Q, N).
        labels: (..., Q).
        log_temperatures: (G,).
    """
    inverses = torch.exp(-log_temperatures).to(logits)
    # (G, ..., L, Q, N)
    tempered = inverses.reshape(-1, *[1] * logits.ndim) * logits
    samples = logits.shape[-3]
    positions = labels[..., None, :, None].expand(*tempered.shape[:-1], 1)
    at_label = tempered.gather(-1, positions).squeeze(-1) - tempered.logsumexp(-1)
    return (at_label.logsumexp(-2) - math.log(samples)).movedim(0, -1)
