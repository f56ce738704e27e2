"""The objectives side by side: Monte Carlo (VERSA), variational (SAMOVAR), cross-entropy (the deterministic ones).

All are to be minimised and give one value for each task. M is the total number of queries of a task. The paper's beta
belongs to sum NLL + beta * sum KL; `mean` divides the whole by M, which leaves mean NLL + (beta / M) * sum KL.
"""

import math
from typing import Literal, NamedTuple

import torch
from torch import Tensor

Reduction = Literal["mean", "sum"]


class TaskLoss(NamedTuple):
    """(T,) each: the loss, the mean negative log-likelihood of a query, the KL divergence of the task (if any)."""

    loss: Tensor
    nll: Tensor
    kl: Tensor | None = None


def label_log_probabilities(logits: Tensor, labels: Tensor) -> Tensor:
    """log softmax at the true class: logits (T, L, Q, N), labels (T, Q) -> (T, L, Q)."""
    positions = labels[:, None, :, None].expand(*logits.shape[:-1], 1)
    return logits.log_softmax(-1).gather(-1, positions).squeeze(-1)


def monte_carlo(logits: Tensor, labels: Tensor, reduction: Reduction = "mean") -> TaskLoss:
    """Eq. (MonteCarlo): -sum_m log (1/L) sum_l p(y_m | x_m, w_l), with logits (T, L, Q, N) sampled from the prior."""
    log_probabilities = label_log_probabilities(logits, labels)
    log_mean = torch.logsumexp(log_probabilities, 1) - math.log(logits.shape[1])
    return _reduce(-log_mean, None, 0.0, reduction)


def variational(
    logits: Tensor, labels: Tensor, divergence: Tensor, beta: float, reduction: Reduction = "mean"
) -> TaskLoss:
    """The beta-weighted ELBO of section 3.2, negated: sum_m (1/L) sum_l -log p(y_m | x_m, w_l) + beta * KL(q || p).

    Logits (T, L, Q, N) are sampled from the posterior q; the divergence (T,) is summed over classes and dimensions.
    """
    log_probabilities = label_log_probabilities(logits, labels).mean(1)
    return _reduce(-log_probabilities, divergence, beta, reduction)


def cross_entropy(logits: Tensor, labels: Tensor, reduction: Reduction = "mean") -> TaskLoss:
    """-sum_m log p(y_m | x_m) of a deterministic classifier: logits (T, Q, N)."""
    return _reduce(
        -label_log_probabilities(logits[:, None], labels).squeeze(1), None, 0.0, reduction
    )


def _reduce(nll: Tensor, kl: Tensor | None, beta: float, reduction: Reduction) -> TaskLoss:
    """From the NLL of each query (T, Q) and the KL of each task (T,)."""
    total = nll.sum(-1) if kl is None else nll.sum(-1) + beta * kl
    return TaskLoss(
        total / nll.shape[-1] if reduction == "mean" else total, nll.mean(-1).detach(), kl
    )
