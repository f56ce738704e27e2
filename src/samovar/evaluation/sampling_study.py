"""The paper's study of sampled classifiers: accuracy over their number.

Random and quasi-random samples are tried side by side, each number of them several times with fresh
noise, so that the scatter of the predictive itself can be seen.
"""

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from samovar.core.progress import Progress, silent
from samovar.evaluation.metrics import Estimate
from samovar.evaluation.task_runner import InferredTasks, TaskRunner
from samovar.models.classifiers import Classifier
from samovar.prediction.predictive import predict_at_mean, predict_by_whole_weights
from samovar.settings.tasks import Protocol

PLAIN = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)
QUASI = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
FIRST_SEED = 1_000_000
"""Repeats draw their noise under seeds of their own, away from those of evaluations."""
REFERENCE = 1000
"""Random samples that quasi-random ones are compared with."""


@dataclass(frozen=True)
class Ladder:
    """Numbers of samples to try: random ones and quasi-random ones.

    Powers of two of quasi-random points fill the space evenly.
    """

    plain: tuple[int, ...] = PLAIN
    quasi: tuple[int, ...] = QUASI
    repeats: int = 10

    @property
    def rungs(self) -> list[tuple[str, int]]:
        """Every kind of sample with every number of them."""
        plain = [("plain", count) for count in self.plain]
        quasi = [("quasi", count) for count in self.quasi]
        return plain + quasi


@torch.no_grad()
def sampling_study(
    runner: TaskRunner,
    protocol: Protocol,
    ladder: Ladder | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Measure the accuracy for each number of samples and each repeat with fresh noise.

    `gain` is the accuracy, as the mean over repeats, less that of the classifier at the mean, with
    its interval over tasks. `error` is the root mean square distance of the probabilities, over
    queries, classes and repeats, to the mean over all repeats of the most random samples.
    `quasi_equal_to_1000` is the lowest number of quasi-random samples whose error is no larger than
    that of 1000 random ones. `protocol.samples` plays no part.
    """
    ladder = ladder or Ladder()
    tally = _Tally(runner.model.classifier, ladder)
    for tasks in runner.infer_tasks(protocol, progress):
        tally.add(tasks)
    accuracy = runner.processes.gathered(torch.cat(tally.accuracies), protocol.episodes)
    accuracy = accuracy.cpu().double()  # (tasks, rungs, repeats)
    at_mean = runner.processes.gathered(torch.cat(tally.at_mean), protocol.episodes)
    at_mean = at_mean.cpu().double()  # (tasks,)
    squares = runner.processes.total(tally.squares).cpu() / protocol.episodes
    results = []
    for position, (kind, count) in enumerate(ladder.rungs):
        gain = accuracy[:, position].mean(1) - at_mean
        results.append(
            {
                "kind": kind,
                "samples": count,
                "accuracy": accuracy[:, position].mean(0).tolist(),
                "gain": Estimate.of(gain.numpy()).to_json(),
                "error": squares[position].sqrt().item(),
            }
        )
    return {
        "format": 2,
        "protocol": asdict(protocol) | {"samples": None},
        "data": runner.dataset.description,
        "repeats": ladder.repeats,
        "mean_classifier": {"accuracy": at_mean.mean().item()},
        "results": results,
        "quasi_equal_to_1000": _quasi_equal_to_reference(results),
    }


class _Tally:
    """Collects accuracies and squared errors over batches of tasks."""

    def __init__(self, classifier: Classifier, ladder: Ladder) -> None:
        self.classifier = classifier
        self.ladder = ladder
        self.accuracies: list[Tensor] = []
        """(T, rungs, repeats) of each batch."""
        self.at_mean: list[Tensor] = []
        """(T,) of each batch."""
        self.squares = torch.zeros(len(ladder.rungs), dtype=torch.float64)

    def add(self, tasks: InferredTasks) -> None:
        """Predict a batch of tasks with every number of samples."""
        best_rung = ("plain", max(self.ladder.plain))
        best = self._probabilities(tasks, *best_rung)
        accuracies = []
        for position, rung in enumerate(self.ladder.rungs):
            probabilities = best  # the most samples are the most expensive: not drawn twice
            if rung != best_rung:
                probabilities = self._probabilities(tasks, *rung)
            correct = probabilities.argmax(-1) == tasks.labels
            accuracies.append(correct.float().mean(-1).T)
            errors = (probabilities - best.mean(0)).square()
            self.squares[position] += errors.mean((0, 2, 3)).sum().item()
        self.accuracies.append(torch.stack(accuracies, 1))
        mean = predict_at_mean(self.classifier, tasks.prior, tasks.query).probabilities
        self.at_mean.append((mean.argmax(-1) == tasks.labels).float().mean(-1))

    def _probabilities(self, tasks: InferredTasks, kind: str, count: int) -> Tensor:
        """Return probabilities (repeats, T, Q, N)."""
        repeats = []
        for repeat in range(self.ladder.repeats):
            noise = tasks.noise(FIRST_SEED + repeat, quasi=kind == "quasi")
            prediction = predict_by_whole_weights(
                self.classifier, tasks.prior, tasks.query, count, noise
            )
            repeats.append(prediction.probabilities)
        return torch.stack(repeats)


def _quasi_equal_to_reference(results: list[dict[str, Any]]) -> int | None:
    reference = None
    for row in results:
        if row["kind"] == "plain" and row["samples"] == REFERENCE:
            reference = row["error"]
    if reference is None:
        return None
    enough = []
    for row in results:
        if row["kind"] == "quasi" and row["error"] <= reference:
            enough.append(row["samples"])
    return min(enough, default=None)
