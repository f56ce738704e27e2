"""The assembled model of section 3: feature extractor, inference network, classifier.

Symbols as in the paper: T tasks (the leading axis everywhere), N classes, K shots, M queries in
all, L samples, d features. A support or query set is a tensor of images and one of labels; classes
are told apart by label, so shots may be unequal and a class may have no query.

It reads in the order of the paper: embed, condition on the support, infer the prior, infer the
posterior, sample, score. `condition` is the one place that knows what TEN changes; training,
evaluation and the classifier of a user's images all go through it.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.distributions import Normal
from torch.nn import functional

from samovar.data.batches import AuxiliaryBatch, TaskBatch
from samovar.models.backbones.base import Backbone
from samovar.models.backbones.registry import build_backbone
from samovar.models.class_means import ClassMeans
from samovar.models.classifiers import make_classifier
from samovar.models.inference import (
    MLPInference,
    ResidualInference,
    WeightDistribution,
    even_hidden_size,
    infer,
    with_counts,
)
from samovar.models.initialization import initialize, xavier
from samovar.models.noise import TaskNoise
from samovar.models.objectives import OBJECTIVES, TaskLoss, TrainingTasks
from samovar.models.precision import full_precision
from samovar.models.task_embedding import Film, TaskEmbedding
from samovar.settings.model import ModelSettings


class UpdateResult(NamedTuple):
    """The loss to minimise, the mean over tasks, and metrics to watch (detached scalars)."""

    loss: Tensor
    metrics: dict[str, Tensor]


class Conditioned(NamedTuple):
    """T tasks conditioned on their supports.

    support: the class means that enter g; prior: p(w | D); films: TEN's conditioning, None without
    TEN; query_films: the conditioning of the features that are classified, which only TADAM has.
    """

    support: ClassMeans
    prior: WeightDistribution
    films: list[Film] | None
    query_films: list[Film] | None


class AuxiliaryHead(nn.Linear):
    """The linear classifier of auxiliary co-training, over all training classes."""

    initialization = staticmethod(xavier)


class FewShotModel(nn.Module):
    """SAMOVAR, VERSA, TADAM or prototypes, by settings.

    >>> model = FewShotModel(ModelSettings(backbone="identity", size=8))
    >>> support, labels = torch.randn(1, 6, 8), torch.tensor([[0, 0, 0, 1, 1, 2]])
    >>> model.task_prior(support, labels, way=3).weights.mean.shape
    torch.Size([1, 3, 8])
    """

    weight_decays: ClassVar[dict[str, str]] = {
        "backbone": "decay_extractor",
        "task_embedding": "decay_task_embedding",
        "auxiliary_head": "decay_auxiliary",
        "prior_network": "decay_inference",
        "posterior_network": "decay_inference",
    }
    """The optimizer setting that decays each part; a subclass with further parts extends it."""

    def __init__(
        self,
        settings: ModelSettings,
        backbone: nn.Module | None = None,
        seed: int = 0,
        *,
        initialized: bool = True,
    ) -> None:
        """Build the networks and, unless their weights are about to be loaded, initialise them."""
        super().__init__()
        self.settings = settings
        self.classifier = make_classifier(settings.classifier, settings.alpha)
        # torch's constructors draw from the global random state, which belongs to the user.
        with torch.random.fork_rng(devices=[]):
            self.backbone, self.feature_dim = build_backbone(settings, backbone)
            self.task_embedding = self._build_task_embedding()
            self.prior_network = None
            if not settings.deterministic:
                self.prior_network = self._build_inference()
            self.posterior_network = None
            if not settings.shared:
                self.posterior_network = self._build_inference()
            self.auxiliary_head = None
            if settings.auxiliary_classes:
                self.auxiliary_head = AuxiliaryHead(self.feature_dim, settings.auxiliary_classes)
        if initialized:
            initialize(self, seed, skip=backbone)
            self._set_first_variance()

    def _build_task_embedding(self) -> TaskEmbedding | None:
        if not self.settings.task_embedding or not isinstance(self.backbone, Backbone):
            return None
        return TaskEmbedding(self.feature_dim, self.backbone.film_widths)

    def _build_inference(self) -> nn.Module:
        settings = self.settings
        if settings.inference_kind == "residual":
            return ResidualInference(
                self.feature_dim,
                last_skip=settings.last_skip,
                log_variance_skip=settings.log_variance_skip,
                count_input=settings.count_input,
            )
        # Appendix A.1; the cosine of a weight vector has no place for a bias.
        biases = settings.classifier == "linear"
        hidden = self.feature_dim
        if not settings.shared:
            hidden = even_hidden_size(self.feature_dim, biases=biases)
        return MLPInference(
            self.feature_dim, hidden, biases=biases, count_input=settings.count_input
        )

    def _set_first_variance(self) -> None:
        network = self.prior_network
        if self.settings.first_log_variance and isinstance(network, ResidualInference):
            bias = network.weight_log_variance.get_parameter("layers.2.bias")
            nn.init.constant_(bias, self.settings.first_log_variance)

    def embed(
        self,
        images: Tensor,
        films: Sequence[Film] | None = None,
        noise: Sequence[torch.Generator] | None = None,
    ) -> Tensor:
        """Return f(x): images (T, n, ...) -> features (T, n, d).

        Under episode norm the n images of each task are normalised by their own statistics.
        """
        tasks = images.shape[0]
        flat = images.flatten(0, 1)
        if isinstance(self.backbone, Backbone):
            features = self.backbone(flat, tasks, films, noise)
        else:
            features = self.backbone(flat)  # a module of the user's own takes images alone
        return features.unflatten(0, (tasks, -1))

    def films(self, support: ClassMeans) -> list[Film] | None:
        """Return TEN's conditioning by c = (1/N) sum_n c_n; None without TEN."""
        if self.task_embedding is None:
            return None
        return self.task_embedding(support.means.mean(1))

    def prior(self, support: ClassMeans) -> WeightDistribution:
        """Return p(w | D), g on the class means of the support.

        For prototypes it is the means themselves, without variance.
        """
        means = support.means
        if self.prior_network is None:
            # torch's own checks would refuse a standard deviation of zero.
            return WeightDistribution(Normal(means, torch.zeros_like(means), validate_args=False))
        return infer(self.prior_network, self._seen_by_inference(support))

    def posterior(self, support: ClassMeans, query: ClassMeans) -> WeightDistribution:
        """Return q(w | D, D~), the same g, or a second one, on the union of support and query."""
        network = self.posterior_network
        if network is None:
            network = self.prior_network
        if network is None:
            raise TypeError("prototypes have no posterior")
        return infer(network, self._seen_by_inference(support | query))

    def _seen_by_inference(self, labelled: ClassMeans) -> Tensor:
        """Return what g sees of a labelled set: class means and, if so set, their counts."""
        if not self.settings.count_input:
            return labelled.means
        return with_counts(labelled.means, labelled.images)

    def condition(
        self, plain: ClassMeans, embed_again: Callable[[list[Film]], ClassMeans]
    ) -> Conditioned:
        """Condition tasks on their supports and infer the prior.

        `plain` are the class means of the support's plain features. With TEN they decide the films,
        and `embed_again` returns the class means of the support under them: from images in
        training, from a data set in evaluation, from the user's images in the classifier.
        """
        films = self.films(plain)
        support = plain
        if films is not None:
            support = embed_again(films)
        # SAMOVAR classifies plain query features (end of "Task conditioning" in section 3.3).
        query_films = None
        if self.classifier.conditions_queries:
            query_films = films
        return Conditioned(support, self.prior(support), films, query_films)

    def condition_images(self, support: Tensor, labels: Tensor, way: int) -> Conditioned:
        """Condition T tasks on support images (T, S, ...) with labels (T, S), at test."""
        plain = ClassMeans.of(self.embed(support), labels, way)
        if (plain.counts == 0).any():
            raise ValueError("every class of a task needs at least one support image")

        def embed_again(films: list[Film]) -> ClassMeans:
            return ClassMeans.of(self.embed(support, films), labels, way)

        return self.condition(plain, embed_again)

    def task_prior(self, support: Tensor, labels: Tensor, way: int) -> WeightDistribution:
        """Return p(w | D) of T tasks at test, from support images (T, S, ...) and labels (T, S)."""
        return self.condition_images(support, labels, way).prior

    def forward(
        self, batch: TaskBatch | AuxiliaryBatch, noise: TaskNoise | None = None
    ) -> UpdateResult:
        """Return one update's loss and metrics.

        The noise samples weights and, in training mode, dropout. Both kinds of batch come through
        here, since gradients are shared between processes by hooks on `forward` alone.
        """
        if isinstance(batch, AuxiliaryBatch):
            return self._auxiliary(batch)
        conditioned = self._condition_batch(batch, noise)
        dropout = self._dropout(noise, "query")
        features = self.embed(batch.query, conditioned.query_films, dropout)
        # The posterior is a function, since only some objectives need it, and with TEN it takes
        # another pass of all queries through the backbone.
        tasks = TrainingTasks(
            features=features,
            labels=batch.query_labels,
            way=batch.way,
            prior=conditioned.prior,
            infer_posterior=lambda: self._batch_posterior(batch, conditioned, features),
            classifier=self.classifier,
            settings=self.settings,
            noise=noise,
        )
        loss = OBJECTIVES[self.settings.method](tasks)
        return UpdateResult(loss.loss.mean(), _metrics(loss, conditioned.prior))

    def _condition_batch(self, batch: TaskBatch, noise: TaskNoise | None) -> Conditioned:
        dropout = self._dropout(noise, "support")
        features = self.embed(batch.support, noise=dropout)
        plain = ClassMeans.of(features, batch.support_labels, batch.way)

        # Without dropout: of our backbones CONV alone has dropout, and ResNet-12 alone has TEN.
        def embed_again(films: list[Film]) -> ClassMeans:
            again = self.embed(batch.support, films)
            return ClassMeans.of(again, batch.support_labels, batch.way)

        return self.condition(plain, embed_again)

    def _batch_posterior(
        self, batch: TaskBatch, conditioned: Conditioned, features: Tensor
    ) -> WeightDistribution:
        """Infer q(w | D, D~); with TEN the queries enter g conditioned, as the support does."""
        if conditioned.films is not None:
            features = self.embed(batch.query, conditioned.films)
        query = ClassMeans.of(features, batch.query_labels, batch.way)
        return self.posterior(conditioned.support, query)

    def _dropout(self, noise: TaskNoise | None, purpose: str) -> list[torch.Generator] | None:
        if not (self.training and self.settings.dropout):
            return None
        if noise is None:
            raise ValueError("a model with dropout needs noise in training")
        return noise.generators(f"dropout {purpose}")

    def _auxiliary(self, batch: AuxiliaryBatch) -> UpdateResult:
        """Return the cross-entropy over all training classes, on unconditioned features."""
        if self.auxiliary_head is None:
            raise TypeError("the model was built without auxiliary classes")
        features = self.embed(batch.images[None])[0]  # as the images of one task
        with full_precision(features):
            logits = self.auxiliary_head(features.float())
            loss = functional.cross_entropy(logits, batch.labels)
        return UpdateResult(loss, {"auxiliary_loss": loss.detach()})


def channels_last(model: FewShotModel) -> FewShotModel:
    """Put the weights of a model into the memory order in which convolutions are fastest."""
    return model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]


def _metrics(loss: TaskLoss, prior: WeightDistribution) -> dict[str, Tensor]:
    metrics = {"loss": loss.loss.mean(), "nll": loss.nll.mean()}
    if loss.kl is not None:
        metrics["kl"] = loss.kl.mean()
    # Appendix D: VERSA has collapsed to a deterministic model where the largest variance is tiny.
    metrics["largest_weight_variance"] = prior.weights.variance.max()
    if prior.biases is not None:
        metrics["largest_bias_variance"] = prior.biases.variance.max()
    return {name: value.detach() for name, value in metrics.items()}
