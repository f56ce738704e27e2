"""Two ways to combine the closed form with something that is learned from tasks, for measurement.

Both start from the probabilities p(y | x, D) of the closed form, and know nothing of how it
computes them. `WeightCorrection` adds an amortized term to the logits:

    p(y | x, v) ~ p(y | x, D) exp(f(x) . v_y),    v_n ~ N(a(k_n) c_n, diag sigma^2(k_n))

with f and the class means c_n centred by the support's mean and of unit length, and k_n the count
of examples. It is trained by the ELBO, with v inferred from support and query together in q, and by
the likelihood under p beside it. At first a = 0. `SimilarityTemperature` changes the temperature
alone: the log of its inverse is linear in log shots, log ways, and the mean cosine between class
means, which is known at one shot too, where nothing can be left out.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from samovar.core.randomness import torch_generator
from samovar.data.collections import VectorTask
from samovar.models.class_means import ClassMeans
from samovar.models.classifiers import linear_logit_distribution
from samovar.models.closed_form import ClosedForm, unit_features
from samovar.models.inference import WeightDistribution, normal
from samovar.models.objectives import monte_carlo, variational
from samovar.settings.model import balanced_beta

SAMPLES = 8
POWER = 0.5
USUAL_SIMILARITY = 0.6
SIMILARITY_SPREAD = 0.1
"""About the standard deviation over tasks: unscaled, Adam stops far from the best slope."""
PASSES = 3


@dataclass(frozen=True)
class AnsweredTask:
    """A task with what the closed form says of its queries.

    log_probabilities: (Q, N); support and query: centred vectors of unit length; context: 1, log
    shots, log(ways / 5) and how similar the classes are.
    """

    log_probabilities: Tensor
    support: Tensor
    support_labels: Tensor
    query: Tensor
    query_labels: Tensor
    context: Tensor
    way: int


@torch.no_grad()
def answer(model: ClosedForm, task: VectorTask) -> AnsweredTask:
    """Answer a task by the closed form."""
    regression = model.infer(task.support, task.support_labels, task.way)
    probabilities = regression.probabilities(task.query)
    support = unit_features(task.support, POWER)
    centre = support.mean(0)
    query = unit_features(task.query, POWER)
    return AnsweredTask(
        log_probabilities=probabilities.clamp(min=1e-9).log().float(),
        support=functional.normalize(support - centre, dim=-1).float(),
        support_labels=task.support_labels,
        query=functional.normalize(query - centre, dim=-1).float(),
        query_labels=task.query_labels,
        context=_context(support, task),
        way=task.way,
    )


def _context(support: Tensor, task: VectorTask) -> Tensor:
    shots = len(task.support_labels) / task.way
    means = ClassMeans.of(support[None], task.support_labels[None], task.way).means[0]
    directions = functional.normalize(means, dim=-1)
    others = ~torch.eye(task.way, dtype=torch.bool)
    similarity = float((directions @ directions.T)[others].mean())
    unusual = (similarity - USUAL_SIMILARITY) / SIMILARITY_SPREAD
    return torch.tensor([1.0, math.log(shots), math.log(task.way / 5), unusual])


class SimilarityTemperature(nn.Module):
    """log of the inverse temperature = coefficients . context: four numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.coefficients = nn.Parameter(torch.zeros(4))

    def logits(self, task: AnsweredTask) -> Tensor:
        """Return logits (Q, N)."""
        return task.log_probabilities * torch.exp(self.coefficients @ task.context)

    def probabilities(self, task: AnsweredTask) -> Tensor:
        """Return class probabilities (Q, N)."""
        return self.logits(task).softmax(-1)

    def loss(self, task: AnsweredTask, noise: torch.Generator) -> Tensor:
        """Return the mean negative log-likelihood of the queries."""
        del noise
        return functional.cross_entropy(self.logits(task), task.query_labels)


class WeightCorrection(nn.Module):
    """An amortized correction of the classifier's weights, zero at first."""

    def __init__(self) -> None:
        super().__init__()
        self.temperature = SimilarityTemperature()
        self.gate = nn.Parameter(torch.zeros(3))
        self.log_variance = nn.Parameter(torch.tensor([-4.0, 0.0]))

    def infer(self, labelled: ClassMeans, way: int) -> WeightDistribution:
        """Return the distribution of the correction given a labelled set."""
        log_counts = labelled.counts.log()
        constant, by_count, by_way = self.gate
        gate = constant + by_count * log_counts + by_way * math.log(way / 5)
        first, slope = self.log_variance
        log_variance = (first + slope * log_counts)[..., None].expand_as(labelled.means)
        return WeightDistribution(normal(gate[..., None] * labelled.means, log_variance))

    def sampled_logits(
        self, task: AnsweredTask, correction: WeightDistribution, epsilon: Tensor
    ) -> Tensor:
        """Sample logits (1, L, Q, N) with noise (1, L, Q or 1, N)."""
        term = linear_logit_distribution(task.query[None], correction)
        base = self.temperature.logits(task)[None, None]
        return base + term.mean[:, None] + term.stddev[:, None] * epsilon

    def probabilities(self, task: AnsweredTask) -> Tensor:
        """Return class probabilities (Q, N), averaged over 64 samples that are always the same."""
        noise = torch_generator(0, "correction at test")
        prior = self.infer(_means(task.support, task.support_labels, task.way), task.way)
        epsilon = torch.randn(1, 64, 1, task.way, generator=noise)
        return self.sampled_logits(task, prior, epsilon).softmax(-1).mean(1)[0]

    def loss(self, task: AnsweredTask, noise: torch.Generator) -> Tensor:
        """Return the mean of the negated ELBO and the negative log-likelihood under the prior."""
        support = _means(task.support, task.support_labels, task.way)
        query = _means(task.query, task.query_labels, task.way)
        prior = self.infer(support, task.way)
        posterior = self.infer(support | query, task.way)
        queries = len(task.query_labels)
        epsilon = torch.randn(1, SAMPLES, queries, task.way, generator=noise)
        labels = task.query_labels[None]
        elbo = variational(
            self.sampled_logits(task, posterior, epsilon),
            labels,
            posterior.divergence(prior).sum(-1),
            balanced_beta(queries, task.way, task.query.shape[1]),
        )
        likelihood = monte_carlo(self.sampled_logits(task, prior, epsilon), labels)
        return (elbo.loss.mean() + likelihood.loss.mean()) / 2


def _means(features: Tensor, labels: Tensor, way: int) -> ClassMeans:
    return ClassMeans.of(features[None], labels[None], way)


Correction = SimilarityTemperature | WeightCorrection


def train_correction(model: Correction, tasks: list[AnsweredTask], seed: int) -> None:
    """Train a correction on tasks that the closed form has answered, four in an update."""
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    per_pass = len(tasks) // 4
    updates = PASSES * per_pass
    noise = torch_generator(seed, "correction in training")
    for update in range(updates):
        for group in optimizer.param_groups:
            group["lr"] = 0.02 * max(0.01, 1 - update / updates)
        optimizer.zero_grad()
        first = 4 * (update % per_pass)
        for task in tasks[first : first + 4]:
            loss = model.loss(task, noise) / math.log(task.way)
            (loss / 4).backward()
        optimizer.step()
