"""The assembled model of section 3: feature extractor f, inference network g, classifier, and the objective.

Symbols as in the paper: T tasks (leading axis everywhere), N ways, K shots, M queries in all, L samples, d features.
Support and query sets are (images, labels). Class means go by label: shots may be unequal, a class may have no query.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.distributions import Normal
from torch.nn import functional

from samovar.data.batches import AuxiliaryBatch, TaskBatch
from samovar.models.backbones.conv import Conv
from samovar.models.backbones.resnet12 import ResNet12
from samovar.models.class_means import ClassMeans
from samovar.models.classifiers import Classifier
from samovar.models.inference import (
    MLPInference,
    ResidualInference,
    WeightDistribution,
    even_hidden_size,
    infer,
)
from samovar.models.initialization import initialize
from samovar.models.noise import TaskNoise
from samovar.models.objectives import TaskLoss, cross_entropy, monte_carlo, variational
from samovar.models.precision import full_precision
from samovar.models.task_embedding import Film, TaskEmbedding
from samovar.settings.model import ModelSettings


class Output(NamedTuple):
    """The loss to minimise, the mean over tasks, and figures to watch (detached scalars)."""

    loss: Tensor
    figures: dict[str, Tensor]


class FewShotModel(nn.Module):
    """SAMOVAR, VERSA, TADAM or prototypes, by settings.

    >>> model = FewShotModel(ModelSettings(backbone="identity", size=8))
    >>> support, labels = torch.randn(1, 6, 8), torch.tensor([[0, 0, 0, 1, 1, 2]])
    >>> model.task_prior(support, labels, way=3).weights.mean.shape
    torch.Size([1, 3, 8])
    """

    def __init__(
        self, settings: ModelSettings, backbone: nn.Module | None = None, seed: int = 0
    ) -> None:
        super().__init__()
        self.settings = settings
        self.classifier = Classifier(settings.classifier, settings.alpha)
        with torch.random.fork_rng(
            devices=[]
        ):  # constructors draw from the global state; `initialize` redoes their work
            self.backbone, d = _backbone(settings, backbone)
            self.feature_dim = d
            self.task_embedding = (
                TaskEmbedding(d, self.backbone.widths)
                if isinstance(self.backbone, ResNet12) and settings.task_embedding
                else None
            )
            self.prior_network = None if self.classifier.deterministic else _inference(settings, d)
            self.posterior_network = None if settings.shared else _inference(settings, d)
            self.auxiliary_head = (
                nn.Linear(d, settings.auxiliary_classes) if settings.auxiliary_classes else None
            )
        initialize(self, seed, skip=backbone)

    def embed(
        self,
        images: Tensor,
        films: Sequence[Film] | None = None,
        noise: Sequence[torch.Generator] | None = None,
    ) -> Tensor:
        """f(x): images (T, n, ...) -> features (T, n, d); each task's set is a group of its own for `episode` norm."""
        tasks, flat = images.shape[0], images.flatten(0, 1)
        if isinstance(self.backbone, ResNet12):
            features = self.backbone(flat, tasks, films)
        elif isinstance(self.backbone, Conv):
            features = self.backbone(flat, tasks, noise)
        else:
            features = self.backbone(flat)
        return features.unflatten(0, (tasks, -1))

    def films(self, support_sums: ClassMeans) -> list[Film] | None:
        """TEN's conditioning by c = (1/N) sum_n c_n of the support's plain features; None without TEN."""
        return (
            None if self.task_embedding is None else self.task_embedding(support_sums.means.mean(1))
        )

    def prior(self, sums: ClassMeans) -> WeightDistribution:
        """p(w | D): g on the class means of the support; for prototypes the means themselves, without variance."""
        if self.prior_network is None:
            return WeightDistribution(
                Normal(sums.means, torch.zeros_like(sums.means), validate_args=False)
            )
        return infer(self.prior_network, sums.means)

    def posterior(self, support: ClassMeans, query: ClassMeans) -> WeightDistribution:
        """q(w | D, D~): the same g, or a second one, on the class means of the union of support and query."""
        network = self.prior_network if self.posterior_network is None else self.posterior_network
        assert network is not None, "prototypes have no posterior"
        return infer(network, (support | query).means)

    def task_prior(self, support: Tensor, labels: Tensor, way: int) -> WeightDistribution:
        """p(w | D) of T tasks at test, from support images (T, S, ...) and labels (T, S)."""
        return self.condition(support, labels, way)[0]

    def condition(
        self, support: Tensor, labels: Tensor, way: int
    ) -> tuple[WeightDistribution, list[Film] | None]:
        """The prior of T tasks at test, and TEN's conditioning, by which TADAM embeds its queries too."""
        sums = ClassMeans.of(self.embed(support), labels, way)
        if (sums.counts == 0).any():
            raise ValueError("every class of a task needs at least one support image")
        films = self.films(sums)
        return self.prior(
            sums if films is None else ClassMeans.of(self.embed(support, films), labels, way)
        ), films

    def forward(self, batch: TaskBatch | AuxiliaryBatch, noise: TaskNoise | None = None) -> Output:
        """One update's loss and figures. The noise samples weights and, in training mode, dropout."""
        if isinstance(batch, AuxiliaryBatch):
            return self._auxiliary(batch)
        f_support = self.embed(batch.support, noise=self._dropout(noise, "support"))
        support = ClassMeans.of(f_support, batch.support_labels, batch.way)
        films = self.films(support)
        if films is not None:
            support = ClassMeans.of(
                self.embed(batch.support, films), batch.support_labels, batch.way
            )
        prior = self.prior(support)
        if (
            self.classifier.deterministic
        ):  # TADAM classifies the conditioned features, SAMOVAR the plain ones
            logits = self.classifier.mean_logits(
                self.embed(batch.query, films, self._dropout(noise, "query")), prior
            )
            objective = cross_entropy(logits, batch.query_labels, self.settings.reduction)
        else:
            objective = self._stochastic(batch, support, films, prior, noise)
        return Output(objective.loss.mean(), _figures(objective, prior))

    def _stochastic(
        self,
        batch: TaskBatch,
        support: ClassMeans,
        films: list[Film] | None,
        prior: WeightDistribution,
        noise: TaskNoise | None,
    ) -> TaskLoss:
        if noise is None:
            raise ValueError("sampling weights needs noise")
        settings, labels = self.settings, batch.query_labels
        f_query = self.embed(batch.query, noise=self._dropout(noise, "query"))  # what is classified
        sampled = prior
        if settings.method == "samovar":
            g_query = f_query if films is None else self.embed(batch.query, films)  # what enters g
            sampled = self.posterior(support, ClassMeans.of(g_query, labels, batch.way))
        shape = self.classifier.noise_shape(settings.samples, f_query, sampled)
        logits = self.classifier.sampled_logits(f_query, sampled, noise.normal("weights", *shape))
        if settings.method == "versa":
            return monte_carlo(logits, labels, settings.reduction)
        beta = (
            labels.shape[1] / (batch.way * f_query.shape[-1])
            if settings.beta is None
            else settings.beta
        )
        return variational(
            logits, labels, sampled.divergence(prior).sum(-1), beta, settings.reduction
        )

    def _dropout(self, noise: TaskNoise | None, part: str) -> list[torch.Generator] | None:
        if not (self.training and self.settings.dropout):
            return None
        if noise is None:
            raise ValueError("dropout needs noise")
        return noise.generators(f"dropout {part}")

    def _auxiliary(self, batch: AuxiliaryBatch) -> Output:
        """Cross-entropy of a linear classifier over all training classes, on unconditioned features."""
        assert self.auxiliary_head is not None, "the model was built without auxiliary classes"
        features = self.embed(batch.images[None])[0]
        with full_precision(features):
            loss = functional.cross_entropy(self.auxiliary_head(features.float()), batch.labels)
        return Output(loss, {"auxiliary_loss": loss.detach()})


def channels_last(model: FewShotModel) -> FewShotModel:
    """The model with its weights in the memory order that convolutions want."""
    return model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]


def _backbone(settings: ModelSettings, own: nn.Module | None) -> tuple[nn.Module, int]:
    s = settings
    if (s.backbone == "custom") != (own is not None):
        raise ValueError('a torch module of your own and backbone="custom" go together')
    if own is not None or s.backbone == "identity":
        return own or nn.Identity(), s.size
    if s.backbone == "resnet12":
        resnet = ResNet12(s.channels, s.width, s.pools, s.norm)
        return resnet, resnet.feature_dim
    conv = Conv(int(s.backbone[-1]), s.channels, s.size, s.width, s.dropout, s.norm)
    return conv, conv.feature_dim


def _inference(settings: ModelSettings, d: int) -> nn.Module:
    if settings.backbone == "resnet12":
        return ResidualInference(d, last_skip=settings.last_skip)
    biases = settings.classifier == "linear"
    return MLPInference(
        d, d if settings.shared else even_hidden_size(d, biases=biases), biases=biases
    )


def _figures(objective: TaskLoss, prior: WeightDistribution) -> dict[str, Tensor]:
    figures = {"loss": objective.loss.mean(), "nll": objective.nll.mean()}
    if objective.kl is not None:
        figures["kl"] = objective.kl.mean()
    figures["largest_weight_variance"] = prior.weights.variance.max()
    if prior.biases is not None:
        figures["largest_bias_variance"] = prior.biases.variance.max()
    return {name: value.detach() for name, value in figures.items()}
