"""The paper's study of sampled classifiers: accuracy over their number, against the classifier at the mean."""

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import torch

from samovar.config import Protocol
from samovar.models.heads import Classifier
from samovar.predictive import predict, predict_at_mean
from samovar.progress import Progress, silent
from samovar.task_evaluator import InferredTasks, TaskEvaluator

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
    classifier = evaluator.model.classifier
    right = torch.zeros(len(ladder.rungs), ladder.repeats, dtype=torch.float64)
    squares, at_mean, queries = (
        torch.zeros(len(ladder.rungs), dtype=torch.float64),
        *torch.zeros(2, 1, dtype=torch.float64),
    )
    for tasks in evaluator.inferred(protocol, progress):
        answers = partial(_answers, classifier, tasks, ladder.repeats)
        reference_answers = answers("plain", max(ladder.plain))
        reference = reference_answers.mean(0)
        for position, (kind, count) in enumerate(ladder.rungs):
            most = (kind, count) == ("plain", max(ladder.plain))
            p = reference_answers if most else answers(kind, count)
            right[position] += (p.argmax(-1) == tasks.labels).sum((1, 2)).cpu()
            squares[position] += (p - reference).square().sum().item()
        mean_answer = predict_at_mean(classifier, tasks.prior, tasks.query).probabilities
        at_mean += (mean_answer.argmax(-1) == tasks.labels).sum().cpu()
        queries += tasks.labels.numel()
    right, squares, at_mean, queries = (evaluator.total(each).cpu() for each in (right, squares, at_mean, queries))
    values = queries * protocol.way * ladder.repeats
    results = [
        {
            "kind": kind,
            "samples": count,
            "accuracy": (right[i] / queries).tolist(),
            "error": (squares[i] / values).sqrt().item(),
        }
        for i, (kind, count) in enumerate(ladder.rungs)
    ]
    return {
        "format": 1,
        "protocol": asdict(protocol) | {"samples": None},
        "data": evaluator.dataset.description,
        "repeats": ladder.repeats,
        "mean_classifier": {"accuracy": (at_mean / queries).item()},
        "results": results,
        "quasi_equal_to_1000": _equal(results),
    }


def _answers(classifier: Classifier, tasks: InferredTasks, repeats: int, kind: str, count: int) -> torch.Tensor:
    """Probabilities (repeats, T, Q, N)."""
    noises = (tasks.noise(FIRST_SEED + repeat, quasi=kind == "quasi") for repeat in range(repeats))
    return torch.stack([predict(classifier, tasks.prior, tasks.query, count, noise).probabilities for noise in noises])


def _equal(results: list[dict[str, Any]]) -> int | None:
    target = [row["error"] for row in results if row["kind"] == "plain" and row["samples"] == 1000]
    enough = [row["samples"] for row in results if row["kind"] == "quasi" and target and row["error"] <= target[0]]
    return min(enough) if enough else None
