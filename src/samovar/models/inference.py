"""The amortized inference network g: from a class's mean feature to a Gaussian over its classifier weights."""

from typing import NamedTuple

from torch import Tensor, nn
from torch.distributions import Normal, kl_divergence
from torch.nn import functional

from samovar.models.precision import full_precision


class WeightDistribution(NamedTuple):
    """p(w | D) or q(w | D, D~): diagonal Gaussians over weights (T, N, d) and, where there are any, biases (T, N)."""

    weights: Normal
    biases: Normal | None = None

    def with_class(self, label: int, other: "WeightDistribution") -> "WeightDistribution":
        """The same with the distribution of one class replaced; `other` has one class."""

        def replaced(old: Normal, new: Normal) -> Normal:
            mean, scale = old.mean.clone(), old.stddev.clone()
            mean[:, label], scale[:, label] = new.mean[:, 0], new.stddev[:, 0]
            return Normal(mean, scale, validate_args=False)

        both = self.biases is not None and other.biases is not None
        biases = replaced(self.biases, other.biases) if both else None  # type: ignore[arg-type]
        return WeightDistribution(replaced(self.weights, other.weights), biases)

    def divergence(self, other: "WeightDistribution") -> Tensor:
        """KL(self || other) for each class: (T, N), summed over dimensions and bias."""
        total: Tensor = kl_divergence(self.weights, other.weights).sum(-1)
        if self.biases is not None and other.biases is not None:
            total = total + kl_divergence(self.biases, other.biases)
        return total


def normal(mean: Tensor, log_variance: Tensor) -> Normal:
    """N(mu, diag(sigma^2)) from mu and ln sigma^2."""
    return Normal(mean, (0.5 * log_variance).exp(), validate_args=False)


def mlp(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    """VERSA's network: three dense layers with ELU between them."""
    return nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.ELU(),
        nn.Linear(hidden, hidden),
        nn.ELU(),
        nn.Linear(hidden, outputs),
    )


class MLPInference(nn.Module):
    """VERSA's four networks: mean and log-variance of weights and of biases (appendix A.1); a cosine has no bias."""

    def __init__(self, feature_dim: int, hidden: int, *, biases: bool) -> None:
        super().__init__()
        self.weight_mean = mlp(feature_dim, hidden, feature_dim)
        self.weight_log_variance = mlp(feature_dim, hidden, feature_dim)
        self.biases = nn.ModuleList(mlp(feature_dim, hidden, 1) for _ in range(2 if biases else 0))

    def forward(self, class_means: Tensor) -> tuple[Tensor, ...]:
        """Class means (T, N, d) -> mu and ln sigma^2 of weights (T, N, d), then of biases (T, N)."""
        weights = self.weight_mean(class_means), self.weight_log_variance(class_means)
        return *weights, *(network(class_means).squeeze(-1) for network in self.biases)


class ResidualMLP(nn.Module):
    """x + swish(W1 x), the same again, then x + W3 x without activation (a reading of appendix A.2: docs/method.md)."""

    def __init__(self, width: int, *, last_skip: bool) -> None:
        super().__init__()
        self.last_skip = last_skip
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        """Vectors (..., d) -> (..., d)."""
        for layer in self.layers[:2]:
            x = x + functional.silu(layer(x))
        return x + self.layers[2](x) if self.last_skip else self.layers[2](x)


class ResidualInference(nn.Module):
    """The pair of networks for ResNet-12: mean and log-variance of the weights, no biases (appendix A.2)."""

    def __init__(self, feature_dim: int, *, last_skip: bool) -> None:
        super().__init__()
        self.weight_mean = ResidualMLP(feature_dim, last_skip=last_skip)
        self.weight_log_variance = ResidualMLP(feature_dim, last_skip=last_skip)

    def forward(self, class_means: Tensor) -> tuple[Tensor, Tensor]:
        """Class means (T, N, d) -> mu and ln sigma^2 of weights, (T, N, d) each."""
        return self.weight_mean(class_means), self.weight_log_variance(class_means)


def infer(network: nn.Module, class_means: Tensor) -> WeightDistribution:
    """g(class means): the distribution over the classifier, [mu_n, sigma_n] = g(mean of class n's features)."""
    with full_precision(class_means):
        outputs = network(class_means.float())
        biases = normal(outputs[2], outputs[3]) if len(outputs) == 4 else None
        return WeightDistribution(normal(outputs[0], outputs[1]), biases)


def even_hidden_size(feature_dim: int, *, biases: bool) -> int:
    """Hidden size with which two sets of VERSA's networks have as many parameters as one of full size (Table 1)."""
    outputs = (
        (feature_dim, 1) if biases else (feature_dim,)
    )  # a mean and a log-variance network for each

    def parameters(hidden: int) -> int:
        body = feature_dim * hidden + hidden + hidden * hidden + hidden
        return sum(2 * (body + (hidden + 1) * size) for size in outputs)

    return min(
        range(1, feature_dim + 1),
        key=lambda hidden: abs(2 * parameters(hidden) - parameters(feature_dim)),
    )
