"""The objectives side by side: Monte Carlo (VERSA), variational (SAMOVAR), cross-entropy.

The first half is pure mathematics, from logits to the loss of each task. All losses are to be
minimised. M is the total number of queries of a task. The paper's beta belongs to
sum NLL + beta * sum KL; the reduction `mean` divides the whole by M, which leaves
mean NLL + (beta / M) * sum KL.

The second half says what each method samples, and is the table that `ModelSettings.method` names. A
new objective is a function of `TrainingTasks` in a file of its own, and one call of
`register_objective`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from samovar.errors import SettingsError
from samovar.models.classifiers import Classifier
from samovar.models.inference import WeightDistribution
from samovar.models.noise import TaskNoise
from samovar.settings.model import METHODS, MethodTraits, ModelSettings, balanced_beta

Reduction = Literal["mean", "sum"]


class TaskLoss(NamedTuple):
    """The loss, the mean negative log-likelihood of a query, and the KL divergence; (T,) each."""

    loss: Tensor
    nll: Tensor
    kl: Tensor | None = None


def label_log_probabilities(logits: Tensor, labels: Tensor) -> Tensor:
    """Return log softmax at the true class: logits (T, L, Q, N), labels (T, Q) -> (T, L, Q)."""
    positions = labels[:, None, :, None].expand(*logits.shape[:-1], 1)
    return logits.log_softmax(-1).gather(-1, positions).squeeze(-1)


def monte_carlo(logits: Tensor, labels: Tensor, reduction: Reduction = "mean") -> TaskLoss:
    """Return Eq. (MonteCarlo), negated: -sum_m log (1/L) sum_l p(y_m | x_m, w_l).

    Logits (T, L, Q, N) are sampled from the prior p(w | D).
    """
    log_probabilities = label_log_probabilities(logits, labels)
    log_mean = torch.logsumexp(log_probabilities, 1) - math.log(logits.shape[1])
    return _reduce(-log_mean, None, 0.0, reduction)


def variational(
    logits: Tensor,
    labels: Tensor,
    divergence: Tensor,
    beta: float,
    reduction: Reduction = "mean",
) -> TaskLoss:
    """Return the beta-weighted ELBO of section 3.2, negated.

    sum_m (1/L) sum_l -log p(y_m | x_m, w_l) + beta * KL(q || p). Logits (T, L, Q, N) are sampled
    from the posterior q; the divergence (T,) is summed over classes and dimensions.
    """
    log_probabilities = label_log_probabilities(logits, labels).mean(1)
    return _reduce(-log_probabilities, divergence, beta, reduction)


def cross_entropy(logits: Tensor, labels: Tensor, reduction: Reduction = "mean") -> TaskLoss:
    """Return -sum_m log p(y_m | x_m) of a deterministic classifier with logits (T, Q, N)."""
    log_probabilities = label_log_probabilities(logits[:, None], labels).squeeze(1)
    return _reduce(-log_probabilities, None, 0.0, reduction)


def _reduce(nll: Tensor, kl: Tensor | None, beta: float, reduction: Reduction) -> TaskLoss:
    """Combine the NLL of each query (T, Q) and the KL of each task (T,)."""
    # The paper's form first, whatever the reduction: beta is defined for the sums.
    total = nll.sum(-1)
    if kl is not None:
        total = total + beta * kl
    if reduction == "mean":
        total = total / nll.shape[-1]
    return TaskLoss(total, nll.mean(-1).detach(), kl)


@dataclass(frozen=True)
class TrainingTasks:
    """What an objective may use of the T tasks of an update.

    features: f(x) of the queries, (T, M, d); labels: their classes, (T, M); prior: p(w | D);
    infer_posterior: returns q(w | D, D~), which with TEN takes another pass over the queries.
    """

    features: Tensor
    labels: Tensor
    way: int
    prior: WeightDistribution
    infer_posterior: Callable[[], WeightDistribution]
    classifier: Classifier
    settings: ModelSettings
    noise: TaskNoise | None = None

    def sampled_logits(self, distribution: WeightDistribution) -> Tensor:
        """Sample logits (T, L, M, N) of the queries, with L classifiers from a distribution."""
        if self.noise is None:
            raise ValueError("sampling weights needs noise")
        shape = self.classifier.noise_shape(self.settings.samples, self.features, distribution)
        epsilon = self.noise.normal("weights", *shape)
        return self.classifier.sampled_logits(self.features, distribution, epsilon)

    @property
    def beta(self) -> float:
        """The weight of the KL term; M / (N d) where the settings leave it open."""
        if self.settings.beta is not None:
            return self.settings.beta
        return balanced_beta(self.labels.shape[1], self.way, self.features.shape[-1])


Objective = Callable[[TrainingTasks], TaskLoss]


def samovar_objective(tasks: TrainingTasks) -> TaskLoss:
    """Sample from the posterior; the KL term keeps posterior and prior close to each other."""
    posterior = tasks.infer_posterior()
    logits = tasks.sampled_logits(posterior)
    divergence = posterior.divergence(tasks.prior).sum(-1)
    return variational(logits, tasks.labels, divergence, tasks.beta, tasks.settings.reduction)


def versa_objective(tasks: TrainingTasks) -> TaskLoss:
    """Sample from the prior."""
    logits = tasks.sampled_logits(tasks.prior)
    return monte_carlo(logits, tasks.labels, tasks.settings.reduction)


def prototypes_objective(tasks: TrainingTasks) -> TaskLoss:
    """Sample nothing: the classifier is its mean."""
    logits = tasks.classifier.mean_logits(tasks.features, tasks.prior)
    return cross_entropy(logits, tasks.labels, tasks.settings.reduction)


OBJECTIVES: dict[str, Objective] = {
    "samovar": samovar_objective,
    "versa": versa_objective,
    "prototypes": prototypes_objective,
}


def register_objective(name: str, objective: Objective, traits: MethodTraits | None = None) -> None:
    """Make an objective known, so that `ModelSettings(method=name)` can be trained and loaded.

    `traits` say whether the method is deterministic and whether it has a posterior; by default it
    has a distribution over the weights and a posterior, as SAMOVAR does.
    """
    if name in METHODS:
        raise SettingsError(f"There is already a method called {name!r}. Choose another name.")
    METHODS[name] = traits or MethodTraits(has_posterior=True)
    OBJECTIVES[name] = objective
