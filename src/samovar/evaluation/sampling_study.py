"""The paper's study of sampled classifiers: accuracy over their number, against the classifier at the mean."""

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import torch

from samovar.core.progress import Progress, silent
from samovar.evaluation.metrics import mean_with_interval
from samovar.evaluation.task_runner import InferredTasks, TaskRunner
from samovar.models.classifiers import Classifier
from samovar.prediction.predictive import predict, predict_at_mean
from samovar.settings.tasks import Protocol

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
        return [("plain", count) for count in self.plain] + [
            ("quasi", count) for count in self.quasi
        ]


@torch.no_grad()
def sampling_study(
    evaluator: TaskRunner,
    protocol: Protocol,
    ladder: Ladder | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Accuracy for each number of samples and each repeat with fresh noise, and the error of the probabilities.

    `gain` is the accuracy, as the mean over repeats, less that of the classifier at the mean, with its interval over
    tasks.
    The error is the root mean square distance, over queries, classes and repeats, to the mean over all repeats of the
    most random samples. `quasi_equal_to_1000` is the lowest number of quasi-random samples whose error is no larger
    than that of 1000 random ones. `protocol.samples` plays no part.
    """
    ladder = ladder or Ladder()
    classifier, rungs = evaluator.model.classifier, ladder.rungs
    most = rungs.index(("plain", max(ladder.plain)))
    right: list[torch.Tensor] = []  # (tasks, rungs, repeats), shares of each task's queries
    at_mean: list[torch.Tensor] = []
    squares = torch.zeros(len(rungs), dtype=torch.float64)
    for tasks in evaluator.inferred(protocol, progress):
        answers = partial(_answers, classifier, tasks, ladder.repeats)
        best = answers(*rungs[most])
        shares = []
        for position, (kind, count) in enumerate(rungs):
            p = best if position == most else answers(kind, count)
            shares.append((p.argmax(-1) == tasks.labels).float().mean(-1).T)
            squares[position] += (p - best.mean(0)).square().mean((0, 2, 3)).sum().item()
        right.append(torch.stack(shares, 1))
        mean_answer = predict_at_mean(classifier, tasks.prior, tasks.query).probabilities
        at_mean.append((mean_answer.argmax(-1) == tasks.labels).float().mean(-1))
    accuracy, mean = (
        evaluator.gathered(torch.cat(each), protocol.episodes).cpu().double()
        for each in (right, at_mean)
    )
    squares = evaluator.total(squares).cpu() / protocol.episodes
    results = [
        {
            "kind": kind,
            "samples": count,
            "accuracy": accuracy[:, i].mean(0).tolist(),
            "gain": mean_with_interval((accuracy[:, i].mean(1) - mean).numpy()),
            "error": squares[i].sqrt().item(),
        }
        for i, (kind, count) in enumerate(rungs)
    ]
    return {
        "format": 2,
        "protocol": asdict(protocol) | {"samples": None},
        "data": evaluator.dataset.description,
        "repeats": ladder.repeats,
        "mean_classifier": {"accuracy": mean.mean().item()},
        "results": results,
        "quasi_equal_to_1000": _equal(results),
    }


def _answers(
    classifier: Classifier, tasks: InferredTasks, repeats: int, kind: str, count: int
) -> torch.Tensor:
    """Probabilities (repeats, T, Q, N)."""
    noises = (tasks.noise(FIRST_SEED + repeat, quasi=kind == "quasi") for repeat in range(repeats))
    return torch.stack(
        [
            predict(classifier, tasks.prior, tasks.query, count, noise).probabilities
            for noise in noises
        ]
    )


def _equal(results: list[dict[str, Any]]) -> int | None:
    target = [row["error"] for row in results if row["kind"] == "plain" and row["samples"] == 1000]
    enough = [
        row["samples"]
        for row in results
        if row["kind"] == "quasi" and target and row["error"] <= target[0]
    ]
    return min(enough) if enough else None
