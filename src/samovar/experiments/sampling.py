"""The paper's study of sampled classifiers: accuracy over their number, against the classifier at the mean."""

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from samovar.config import Protocol
from samovar.models.heads import Classifier
from samovar.models.inference import WeightDistribution
from samovar.predictive import predict, predict_at_mean
from samovar.predictive_noise import BANK, PredictiveNoise
from samovar.progress import Progress, silent
from samovar.task_evaluator import TaskEvaluator

PLAIN = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)
QUASI = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
FIRST_SEED = 1_000_000
"""Repeats draw their noise under seeds of their own, away from those of evaluations."""


@dataclass(frozen=True)
class Ladder:
    """Numbers of samples to try: random ones, and quasi-random ones (powers of two fill the space evenly)."""

    plain: tuple[int, ...] = PLAIN
    quasi: tuple[int, ...] = QUASI
    repeats: int = 10

    @property
    def rungs(self) -> list[tuple[str, int]]:
        """Kind and number."""
        return [("plain", count) for count in self.plain] + [("quasi", count) for count in self.quasi]


@torch.no_grad()
def sampling_study(
    evaluator: TaskEvaluator, protocol: Protocol, ladder: Ladder | None = None, progress: Progress = silent
) -> dict[str, Any]:
    """Accuracy for each number of samples and each repeat with fresh noise, and the error of the probabilities.

    The error is the root mean square distance, over queries, classes and repeats, to the mean over all repeats of the
    most random samples. `quasi_equal_to_1000` is the lowest number of quasi-random samples whose error is no larger
    than that of 1000 random ones. `protocol.samples` plays no part.
    """
    ladder = ladder or Ladder()
    classifier, sampler = evaluator.model.classifier, evaluator.check(protocol)
    right = np.zeros((len(ladder.rungs), ladder.repeats))
    squares, at_mean, queries, values = np.zeros(len(ladder.rungs)), 0.0, 0, 0
    for first in range(0, protocol.episodes, BANK):
        episodes = sampler.draw(first, min(BANK, protocol.episodes - first))
        labels = torch.tensor(episodes.query_labels, device=evaluator.device)
        prior, query = evaluator.infer(episodes)
        answers = partial(_answers, classifier, prior, query, first, ladder.repeats)
        reference_answers = answers("plain", max(ladder.plain))
        reference = reference_answers.mean(0)
        for position, (kind, count) in enumerate(ladder.rungs):
            most = (kind, count) == ("plain", max(ladder.plain))
            p = reference_answers if most else answers(kind, count)
            right[position] += (p.argmax(-1) == labels).sum((1, 2)).cpu().numpy()
            squares[position] += (p - reference).square().sum().item()
        mean_answer = predict_at_mean(classifier, prior, query).probabilities
        at_mean += (mean_answer.argmax(-1) == labels).sum().item()
        queries, values = queries + labels.numel(), values + reference.numel() * ladder.repeats
        progress("sampling study", (first + len(query)) / protocol.episodes)
    results = [
        {
            "kind": kind,
            "samples": count,
            "accuracy": (right[i] / queries).tolist(),
            "error": float(np.sqrt(squares[i] / values)),
        }
        for i, (kind, count) in enumerate(ladder.rungs)
    ]
    return {
        "format": 1,
        "protocol": asdict(protocol) | {"samples": None},
        "data": evaluator.dataset.description,
        "repeats": ladder.repeats,
        "mean_classifier": {"accuracy": at_mean / queries},
        "results": results,
        "quasi_equal_to_1000": _equal(results),
    }


def _answers(
    classifier: Classifier,
    prior: WeightDistribution,
    query: torch.Tensor,
    first: int,
    repeats: int,
    kind: str,
    count: int,
) -> torch.Tensor:
    """Probabilities (repeats, T, Q, N)."""
    tasks = range(first, first + len(query))
    noises = (PredictiveNoise(FIRST_SEED + repeat, tasks, kind == "quasi") for repeat in range(repeats))
    return torch.stack([predict(classifier, prior, query, count, noise).probabilities for noise in noises])


def _equal(results: list[dict[str, Any]]) -> int | None:
    target = [row["error"] for row in results if row["kind"] == "plain" and row["samples"] == 1000]
    enough = [row["samples"] for row in results if row["kind"] == "quasi" and target and row["error"] <= target[0]]
    return min(enough) if enough else None
