"""Sets with a guarantee from the support alone: full conformal prediction for a regression.

A quantile of left-out scores (the jackknife) guarantees nothing: a new image is scored by all n
images, each support image by the n - 1 others. Here the new image x is treated like all others. For
each label that it may have it joins the support, and *each* of the n + 1 images is left out in turn
and scored by the n others. All scores then come from one symmetric rule. If the label is the true
one they are exchangeable, and the rank of x among them is uniform, however few the images are and
whatever the model is worth. (Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World.)

That would be n + 1 fits for every image and label. The closed form needs none. Let C (n, r) be the
support in the coordinates of its eigenvectors, e their eigenvalues, z the coordinates of x, h the
leverages of the support, R = Y - C W its residuals, s(x) and v(x) the moments of x, and
g = 1 / (lambda + v(x)). The regression of all n + 1 images around their own centre (that is, with
an unpenalized intercept) has the dual weights P Y, where P = B - B 1 1' B / (1' B 1) and B is the
inverse of the joint kernel plus lambda. By blocks, for images i of the support and for x:

    u = C (z / (e + lambda)),   b_i = 1 / lambda - g u_i,   b_x = g,   beta = n / lambda + g
    P_ii = (1 - h_i) / lambda + g u_i^2 - b_i^2 / beta,     P_xx = g - g^2 / beta
    P_ix = -g u_i - b_i g / beta
    (P Y)_i = R_i / lambda + g u_i s(x) - b_i (1'Y / lambda - g s(x)) / beta + P_ix y_x

The left-out score of an image is y_i - (P Y)_i / P_ii and its variance 1 / P_ii - lambda. Up to a
constant, another label of x changes it for one class only, so all labels together cost O(n N).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.distributions import Normal

from samovar.models.closed_form import (
    DISPERSIONS,
    TYPICAL_DISPERSION,
    Regression,
    mean_field,
    unit_features,
)

MOST_NUMBERS = 1_000_000
"""Scores that are worked on at once: queries x support images x classes."""
TIE = 1e-9
"""Scores that differ by less are equal, as those of two copies of an image are."""


@dataclass(frozen=True)
class PValues:
    """How well each label fits each query, among the images that it is compared with.

    values: (Q, N); compared: the number of images that each label is compared with, (N,).
    """

    values: NDArray[np.float64]
    compared: NDArray[np.int64]


def comparable(regression: Regression, *, per_class: bool) -> NDArray[np.int64]:
    """Return how many support images a query with each label is compared with, (N,).

    An image is compared if its class has another one, which may be the query: without any, nothing
    is known of its class. Per class, only images of the query's own class are.
    """
    counts = torch.bincount(regression.labels, minlength=regression.shape.way).numpy()
    if per_class:
        return counts
    able = counts[counts > 1].sum()
    return able + (counts == 1)


@torch.no_grad()
def full_conformal(regression: Regression, vectors: Tensor, *, per_class: bool) -> PValues:
    """Return the p-value of each label of queries with the encoder's vectors (Q, d)."""
    compared = comparable(regression, per_class=per_class)
    residuals = residuals_of(regression)
    block = max(1, MOST_NUMBERS // (len(regression.labels) * regression.shape.way))
    counts = []
    for start in range(0, len(vectors), block):
        joined = _Joined.of(regression, residuals, vectors[start : start + block])
        counts.append(joined.worse(per_class=per_class))
    worse = np.zeros((0, regression.shape.way))
    if counts:
        worse = torch.cat(counts).numpy()
    return PValues((1 + worse) / (1 + compared), compared)


def residuals_of(regression: Regression) -> Tensor:
    """Return R = Y - C W, (n, N): what the regression leaves of the targets of its support."""
    return regression.targets - regression.spectrum.coordinates @ regression.weights


@dataclass(frozen=True)
class _Joined:
    """Queries (Q) that have joined the support (n), each by itself."""

    regression: Regression
    residuals: Tensor
    """R, (n, N)."""
    scores: Tensor
    """s(x), (Q, N)."""
    gain: Tensor
    """g, (Q, 1)."""
    effects: Tensor
    """u, (Q, n)."""
    dispersion: Tensor
    """Of all n + 1 images, (Q,)."""

    @classmethod
    def of(cls, regression: Regression, residuals: Tensor, vectors: Tensor) -> "_Joined":
        spectrum = regression.spectrum
        moments = regression.moments(vectors)
        centred = unit_features(vectors, regression.model.power) - spectrum.mean
        coordinates = centred @ spectrum.directions.T
        effects = coordinates / (spectrum.values + regression.ridge) @ spectrum.coordinates.T
        gain = 1 / (regression.ridge + moments.variance)
        images = len(spectrum.coordinates)
        # The scatter of the support around its mean, and what the query adds to it.
        scatter = spectrum.values.sum() + centred.square().sum(1) * images / (images + 1)
        dispersion = scatter / images
        return cls(regression, residuals, moments.scores, gain[:, None], effects, dispersion)

    @cached_property
    def _sums(self) -> Tensor:
        """b, (Q, n)."""
        return 1 / self.regression.ridge - self.gain * self.effects

    @cached_property
    def _total(self) -> Tensor:
        """beta, (Q, 1)."""
        return self.effects.shape[1] / self.regression.ridge + self.gain

    @cached_property
    def _centre(self) -> Tensor:
        """(1'Y / lambda - g s(x)) / beta, (Q, N)."""
        targets = self.regression.targets.sum(0) / self.regression.ridge
        return (targets - self.gain * self.scores) / self._total

    @cached_property
    def _shared(self) -> Tensor:
        """P_ix, (Q, n)."""
        return -self.gain * self.effects - self._sums * self.gain / self._total

    @cached_property
    def _precisions(self) -> Tensor:
        """P_ii, (Q, n)."""
        spectrum = self.regression.spectrum
        shrunk = spectrum.coordinates.square() / (spectrum.values + self.regression.ridge)
        alone = (1 - shrunk.sum(1)) / self.regression.ridge
        return alone + self.gain * self.effects.square() - self._sums.square() / self._total

    def worse(self, *, per_class: bool) -> Tensor:
        """Count the support images that fit no better than the query with each label, (Q, N)."""
        labels = self.regression.labels
        way = self.regression.shape.way
        alone = torch.bincount(labels, minlength=way) == 1
        own = self._misfits_of_queries()
        counts = torch.zeros_like(own)
        block = max(1, MOST_NUMBERS // own.numel())
        for start in range(0, len(labels), block):
            rows = slice(start, start + block)
            is_own_class = labels[rows, None] == torch.arange(way)
            compared = is_own_class
            if not per_class:
                compared = ~alone[labels[rows], None] | is_own_class
            fits_no_better = self._misfits_of_support(rows) >= own[:, None] - TIE
            counts += (fits_no_better & compared).sum(1)
        return counts

    def _misfits_of_queries(self) -> Tensor:
        """Return -log p of each label by the support alone, (Q, N)."""
        logits = self._logits(*self.query_moments())
        return -logits.log_softmax(-1)

    def _misfits_of_support(self, rows: slice) -> Tensor:
        """Return -log p of the own label of support images, for each label of the query (Q, m, N).

        The last axis is the label of the query. It changes one logit of each image.
        """
        labels = self.regression.labels[rows]
        scores, variance = self.support_moments(rows)
        logits = self._logits(scores, variance)
        changed = self._logits(scores + self.steps[:, rows, None], variance)
        total = torch.logaddexp(_others(logits), changed)
        positions = labels[None, :, None].expand(len(scores), -1, 1)
        at_label = logits.gather(-1, positions).expand_as(total)
        # Where the query has the image's own label, it is the logit of that label that changes.
        at_label = at_label.scatter(-1, positions, changed.gather(-1, positions))
        return total - at_label

    def query_moments(self) -> tuple[Tensor, Tensor]:
        """Return left-out scores (Q, N) and variances (Q,) of the queries; no label matters."""
        precision = self.gain - self.gain.square() / self._total
        scores = self.gain * (self.scores + self._centre) / precision
        return scores, self._variance(precision.squeeze(1))

    def support_moments(self, rows: slice) -> tuple[Tensor, Tensor]:
        """Return left-out scores (Q, m, N) and variances (Q, m) of some support images.

        That is, if the target of the query is -1/N for every class. With a label it is one more for
        that class, which adds `steps` to the scores of that class.
        """
        targets = self.regression.targets[rows]
        dual = self.residuals[rows] / self.regression.ridge
        dual = dual - self._sums[:, rows, None] * self._centre[:, None]
        dual = dual + self.effects[:, rows, None] * (self.gain * self.scores)[:, None]
        dual = dual - self._shared[:, rows, None] / self.regression.shape.way
        precisions = self._precisions[:, rows]
        return targets - dual / precisions[..., None], self._variance(precisions)

    @cached_property
    def steps(self) -> Tensor:
        """What a query adds to the score of its own class, for each support image, (Q, n)."""
        return -self._shared / self._precisions

    def _variance(self, precisions: Tensor) -> Tensor:
        return (1 / precisions - self.regression.ridge).clamp(min=0)

    def _logits(self, scores: Tensor, variance: Tensor) -> Tensor:
        """Return logits (Q, ..., N) whose softmax is the predictive at the temperature one.

        The temperature of the task is not for this: it is learned from the support without the
        query, which is not symmetric. The scale knows the dispersion of all n + 1 images.
        """
        model = self.regression.model
        shape = self.regression.shape
        usual = model.log_scale(replace(shape, dispersion=TYPICAL_DISPERSION))
        smallest, largest = DISPERSIONS
        relative = self.dispersion.clamp(smallest, largest) / TYPICAL_DISPERSION
        scale = torch.exp(usual + model.scale[3] * relative.log() / shape.shots)
        scale = scale.view(-1, *(1,) * (scores.ndim - 1))
        spread = scale * (model.variance.exp() * variance[..., None] + 1e-12).sqrt()
        mean = scale * model.linked(scores, shape)
        logits = Normal(mean, spread.expand_as(mean), validate_args=False)
        return mean_field(logits, torch.zeros((), dtype=mean.dtype))


def _others(logits: Tensor) -> Tensor:
    """Return, for each class, the log of the sum of the exponentials of all other logits.

    >>> _others(torch.tensor([1.0, 2.0, 3.0]).log()).exp()
    tensor([5., 4., 3.])
    """
    largest, position = logits.max(-1, keepdim=True)
    exponentials = torch.exp(logits - largest)
    total = exponentials.sum(-1, keepdim=True)
    # Where the largest itself is left out, the difference would lose all digits.
    rest = exponentials.scatter(-1, position, 0).sum(-1, keepdim=True)
    sums = (total - exponentials).scatter(-1, position, rest)
    return largest + sums.log()
