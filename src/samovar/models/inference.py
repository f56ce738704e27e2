"""The amortized inference network g: from class means to Gaussians over classifier weights.

[mu_n, sigma_n] = g(c_n), where c_n is the mean feature of class n. The paper's sigma_n is a
variance, of which the networks predict the logarithm. On the class means of the support g gives the
prior p(w | D); on those of support and query together, the posterior q(w | D, D~).

Beyond the paper, g may also see how many images a mean is taken over: [mu_n, sigma_n] =
g(c_n, log k_n). The variance of an exact posterior falls with k_n, and a class mean cannot tell one
image from ten. The prior has k_n = K; the posterior also counts the queries of the class.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.distributions import Normal, kl_divergence
from torch.nn import functional

from samovar.models.initialization import tadam, versa
from samovar.models.precision import full_precision


class WeightDistribution(NamedTuple):
    """p(w | D) or q(w | D, D~): diagonal Gaussians over the classifier's weights.

    weights: (T, N, d); biases: (T, N), or None where the classifier has none.
    """

    weights: Normal
    biases: Normal | None = None

    def of_task(self, position: int) -> "WeightDistribution":
        """Return the distribution of one of T tasks, (1, N, d)."""
        chosen = slice(position, position + 1)
        weights = Normal(
            self.weights.mean[chosen], self.weights.stddev[chosen], validate_args=False
        )
        if self.biases is None:
            return WeightDistribution(weights)
        biases = Normal(self.biases.mean[chosen], self.biases.stddev[chosen], validate_args=False)
        return WeightDistribution(weights, biases)

    def with_classes(self, labels: Tensor, others: "WeightDistribution") -> "WeightDistribution":
        """Make n tasks (n, N, d) of one, (1, N, d), each with one of its classes replaced.

        Args:
            labels: The class that each task replaces, (n,).
            others: What it is replaced by, (1, n, d).
        """
        weights = _with_classes(self.weights, labels, others.weights)
        if self.biases is None or others.biases is None:
            return WeightDistribution(weights)
        return WeightDistribution(weights, _with_classes(self.biases, labels, others.biases))

    def widened(self, factors: Tensor) -> "WeightDistribution":
        """Return the distributions with standard deviations multiplied by factors (T,)."""
        scale = self.weights.stddev * factors[:, None, None]
        weights = Normal(self.weights.mean, scale, validate_args=False)
        if self.biases is None:
            return WeightDistribution(weights)
        scale = self.biases.stddev * factors[:, None]
        return WeightDistribution(weights, Normal(self.biases.mean, scale, validate_args=False))

    def divergence(self, other: "WeightDistribution") -> Tensor:
        """Return KL(self || other) of each class, (T, N), summed over dimensions and bias."""
        total: Tensor = kl_divergence(self.weights, other.weights).sum(-1)
        if self.biases is not None and other.biases is not None:
            total = total + kl_divergence(self.biases, other.biases)
        return total


def _with_classes(old: Normal, labels: Tensor, new: Normal) -> Normal:
    tasks = torch.arange(len(labels), device=labels.device)
    mean = old.mean.repeat(len(labels), *[1] * (old.mean.ndim - 1))
    scale = old.stddev.repeat(len(labels), *[1] * (old.mean.ndim - 1))
    mean[tasks, labels] = new.mean[0]
    scale[tasks, labels] = new.stddev[0]
    return Normal(mean, scale, validate_args=False)


class WeightParameters(NamedTuple):
    """What an inference network predicts: mu and ln sigma^2 of weights (T, N, d) and biases (T, N).

    Plain tensors, so that the networks can be exported.
    """

    weight_mean: Tensor
    weight_log_variance: Tensor
    bias_mean: Tensor | None = None
    bias_log_variance: Tensor | None = None

    def distribution(self) -> WeightDistribution:
        """Return the Gaussians with these parameters."""
        weights = normal(self.weight_mean, self.weight_log_variance)
        if self.bias_mean is None or self.bias_log_variance is None:
            return WeightDistribution(weights)
        return WeightDistribution(weights, normal(self.bias_mean, self.bias_log_variance))


def normal(mean: Tensor, log_variance: Tensor) -> Normal:
    """Return N(mu, diag(sigma^2)) from mu and ln sigma^2."""
    return Normal(mean, (0.5 * log_variance).exp(), validate_args=False)


def mlp(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    """Build VERSA's network: three dense layers with ELU between them."""
    return nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.ELU(),
        nn.Linear(hidden, hidden),
        nn.ELU(),
        nn.Linear(hidden, outputs),
    )


class MLPInference(nn.Module):
    """VERSA's four networks: mean and log-variance of weights and of biases (appendix A.1).

    A cosine classifier has no biases.
    """

    initialization = staticmethod(versa)

    def __init__(
        self, feature_dim: int, hidden: int, *, biases: bool, count_input: bool = False
    ) -> None:
        super().__init__()
        inputs = feature_dim + count_input
        self.weight_mean = mlp(inputs, hidden, feature_dim)
        self.weight_log_variance = mlp(inputs, hidden, feature_dim)
        # Mean and log-variance of the biases, or nothing; a list, since stored models name them so.
        self.biases = nn.ModuleList()
        if biases:
            self.biases.append(mlp(inputs, hidden, 1))
            self.biases.append(mlp(inputs, hidden, 1))

    def forward(self, class_means: Tensor) -> WeightParameters:
        """Predict the parameters from class means (T, N, d), or (T, N, d + 1) with counts."""
        mean = self.weight_mean(class_means)
        log_variance = self.weight_log_variance(class_means)
        if not len(self.biases):
            return WeightParameters(mean, log_variance)
        bias_mean, bias_log_variance = self.biases
        return WeightParameters(
            mean,
            log_variance,
            bias_mean(class_means).squeeze(-1),
            bias_log_variance(class_means).squeeze(-1),
        )


class ResidualMLP(nn.Module):
    """x + swish(W1 x), the same again, then x + W3 x without activation.

    The last skip connection is a reading of appendix A.2 (docs/method.md). Further inputs than d
    enter the first layer, but not the skip connection around it.
    """

    def __init__(self, width: int, *, last_skip: bool, further_inputs: int = 0) -> None:
        super().__init__()
        self.last_skip = last_skip
        self.width = width
        self.layers = nn.ModuleList([nn.Linear(width + further_inputs, width)])
        self.layers.extend(nn.Linear(width, width) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        """Map vectors (..., d), with further inputs behind them, to (..., d)."""
        first, second, third = self.layers
        skip = x
        # Not always: a slice changes the order in which gradients are added up, and so their bits.
        if x.shape[-1] > self.width:
            skip = x[..., : self.width]
        x = skip + functional.silu(first(x))
        x = x + functional.silu(second(x))
        # At the start the weights are small and x + third(x) is near x: a prototype classifier.
        if self.last_skip:
            return x + third(x)
        return third(x)


class ResidualInference(nn.Module):
    """The networks for ResNet-12: mean and log-variance of the weights (appendix A.2).

    With a skip around the last layer the first ln sigma^2 is near the class mean itself, whatever
    its scale. Without it, the variance starts at exp(first_log_variance).
    """

    initialization = staticmethod(tadam)

    def __init__(
        self, feature_dim: int, *, last_skip: bool, log_variance_skip: bool, count_input: bool
    ) -> None:
        super().__init__()
        further = int(count_input)
        self.weight_mean = ResidualMLP(feature_dim, last_skip=last_skip, further_inputs=further)
        self.weight_log_variance = ResidualMLP(
            feature_dim, last_skip=last_skip and log_variance_skip, further_inputs=further
        )
        # The ln sigma^2 of an exact posterior is nearly linear in log k_n, so it has a direct path.
        self.log_variance_by_count = None
        if count_input:
            self.log_variance_by_count = nn.Linear(1, feature_dim, bias=False)

    def forward(self, class_means: Tensor) -> WeightParameters:
        """Predict the parameters from class means (T, N, d), or (T, N, d + 1) with counts."""
        mean = self.weight_mean(class_means)
        log_variance = self.weight_log_variance(class_means)
        if self.log_variance_by_count is not None:
            log_variance = log_variance + self.log_variance_by_count(class_means[..., -1:])
        return WeightParameters(mean, log_variance)


def with_counts(class_means: Tensor, counts: Tensor) -> Tensor:
    """Append log k_n to the class means: (T, N, d) and counts (T, N) -> (T, N, d + 1)."""
    return torch.cat([class_means, counts.to(class_means).log()[..., None]], -1)


def infer(network: nn.Module, class_means: Tensor) -> WeightDistribution:
    """Return g(class means), the distribution over the classifier, in full precision."""
    with full_precision(class_means):
        parameters: WeightParameters = network(class_means.float())
        return parameters.distribution()


def even_hidden_size(feature_dim: int, *, biases: bool) -> int:
    """Return the hidden size with which two sets of networks are as large as one of full size.

    Table 1 compares shared and separate networks at about the same number of parameters.

    >>> even_hidden_size(256, biases=True)
    152
    """
    target = _parameters(feature_dim, feature_dim, biases=biases)

    def excess(hidden: int) -> int:
        return abs(2 * _parameters(feature_dim, hidden, biases=biases) - target)

    return min(range(1, feature_dim + 1), key=excess)


def _parameters(feature_dim: int, hidden: int, *, biases: bool) -> int:
    """Count the parameters of MLPInference."""
    body = feature_dim * hidden + hidden + hidden * hidden + hidden
    # Everything twice: there is a network for the mean and one for the log-variance.
    weights = 2 * (body + (hidden + 1) * feature_dim)
    if not biases:
        return weights
    return weights + 2 * (body + (hidden + 1))
