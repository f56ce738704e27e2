"""The support of a task as smaller tasks: in each of them, every class leaves one image out.

What is left out is answered as a new image of a task with one image less of each class would be. So
the laws of the calibration say what is usual there, at one shot less, and how far a task is from
it is its own. (If the image alone were left out, its class would have fewer images than the
others. At two shots that is half of them, and the answer would speak of the imbalance.)
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from samovar.core.randomness import torch_generator
from samovar.models.class_means import ClassMeans
from samovar.models.few_shot_model import FewShotModel
from samovar.models.inference import WeightDistribution

MOST_ANSWERED = 200
"""Left-out images that are answered, at most."""
LARGEST_CHUNK = 2**23
"""Numbers of the classifiers that are in memory at once."""


@dataclass(frozen=True)
class SmallerTasks:
    """R smaller tasks of the N classes of a task.

    totals: of the images that stay, (R, N, d) in float64; counts: their numbers, (N,), the same in
    every task; features: of the images that are left out of the classes that are asked for,
    (R, Q, d); labels: these classes, (Q,); asked: whether an image was not asked for in an earlier
    task, (R, Q), since classes with few images leave theirs out in turns.
    """

    totals: Tensor
    counts: Tensor
    features: Tensor
    labels: Tensor
    asked: Tensor

    @classmethod
    def of(
        cls,
        totals: Tensor,
        counts: Tensor,
        features: Tensor,
        numbers: Tensor,
        most: int = MOST_ANSWERED,
    ) -> "SmallerTasks | None":
        """Leave out images of every class that has two or more; return None if none has.

        Args:
            totals: The sums of each class's features, (N, d).
            counts: The number of its images, (N,).
            features: Of all support images, (n, d).
            numbers: Of their classes, (n,).
            most: The largest number of images that are asked for.
        """
        several = torch.nonzero(counts > 1).flatten()
        if not len(several):
            return None
        rounds = min(int(counts.max()), max(1, most // len(several)))
        # Evenly spaced among the classes, where there are too many.
        spaced = torch.linspace(0, len(several) - 1, min(most, len(several))).round().long()
        labels = several[spaced]
        # The images class by class, each class in its own order: where the images of one begin.
        order = torch.argsort(numbers, stable=True)
        begins = counts.cumsum(0) - counts
        turns = torch.arange(rounds)[:, None]
        chosen = order[begins[several] + turns % counts[several]]  # (R, several)
        smaller = totals.double().expand(rounds, -1, -1).clone()
        smaller[:, several] -= features[chosen.to(features.device)].cpu().double()
        left_out = order[begins[labels] + turns % counts[labels]]
        return cls(
            smaller,
            counts - (counts > 1).long(),
            features[left_out.to(features.device)],
            labels,
            turns < counts[labels],
        )

    @property
    def shots(self) -> float:
        """The mean number of images of a class in the smaller tasks."""
        return float(self.counts.double().mean())

    @torch.no_grad()
    def logits(
        self, model: FewShotModel, samples: int, seed: int, factor: float = 1.0
    ) -> tuple[Tensor, Tensor]:
        """Return logits (L, n, N) of all n left-out images by sampled classifiers, and labels (n,).

        Standard deviations of the weights are multiplied by the factor.
        """
        if model.classifier.deterministic:
            samples = 1
        way = self.totals.shape[1]
        logits = []
        for tasks in self._chunks(samples):
            features = self.features[tasks].float()
            prior = model.prior(self._means(tasks, features.device))
            widened = prior.widened(features.new_full((len(features),), factor))
            logits.append(sampled_logits(model, widened, features, samples, seed))
        answers = torch.cat(logits).transpose(0, 1).reshape(samples, -1, way)
        asked = self.asked.flatten()
        labels = self.labels.expand(len(self.asked), -1).flatten()
        return answers[:, asked.to(answers.device)], labels[asked].to(answers.device)

    def _chunks(self, samples: int) -> Iterator[slice]:
        rounds = len(self.totals)
        numbers = samples * self.totals[0].numel()
        at_once = max(1, LARGEST_CHUNK // numbers)
        for first in range(0, rounds, at_once):
            yield slice(first, first + at_once)

    def _means(self, tasks: slice, device: torch.device) -> ClassMeans:
        # Divided in float64, as those of a whole task are (samovar.prediction.task).
        means = (self.totals[tasks] / self.counts[:, None]).float().to(device)
        images = self.counts.to(device).expand(means.shape[:-1])
        return ClassMeans(means, torch.ones_like(images, dtype=means.dtype), averaged=images)


def sampled_logits(
    model: FewShotModel,
    distribution: WeightDistribution,
    features: Tensor,
    samples: int,
    seed: int,
) -> Tensor:
    """Sample logits (T, L, Q, N) of features (T, Q, d) by the same noise for all tasks.

    Prototypes have one classifier, and L is 1.
    """
    if model.classifier.deterministic:
        return model.classifier.mean_logits(features, distribution)[:, None]
    shape = model.classifier.noise_shape(samples, features, distribution)
    source = torch_generator(seed, "left-out classifiers", device=features.device)
    epsilon = torch.randn(1, *shape, generator=source, device=features.device)
    return model.classifier.sampled_logits(features, distribution, epsilon)
