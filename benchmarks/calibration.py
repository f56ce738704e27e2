"""Measure how honest a network's probabilities are at every shot and way, as it is and calibrated.

On tasks of training, validation and test classes, for the sampled classifiers, the classifier at
the mean, and the calibration that is stored in the model: accuracy, NLL, pooled calibration error,
and its sign (mean top probability - accuracy: above zero is too sure). Prints JSON:

    python benchmarks/calibration.py cifar_fs omniglot glyphs
    python benchmarks/calibration.py runs/mine --splits test --ways 5 --tasks 200
"""

import json
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from samovar.artifacts.locate import locate_model
from samovar.artifacts.saved_model import load_network
from samovar.errors import DataError
from samovar.evaluation.evaluator import Evaluator, training_dataset
from samovar.evaluation.results import Metrics
from samovar.settings.tasks import Protocol


@dataclass
class Arguments:
    """What to measure."""

    models: Annotated[tuple[str, ...], tyro.conf.Positional]
    """Shipped models, model folders or run folders."""
    splits: tuple[str, ...] = ("train", "val", "test")
    ways: tuple[int, ...] = (5, 20)
    shots: tuple[int, ...] = (1, 2, 5, 10, 20)
    queries: int = 10
    """Of each class."""
    tasks: int = 200
    """Of each shape; a quarter of them at more than ten ways."""
    seed: int = 5


def main() -> None:
    """Measure and print."""
    arguments = tyro.cli(Arguments, description=__doc__)
    rows = []
    for name in arguments.models:
        saved = load_network(locate_model(name))
        for split in arguments.splits:
            evaluator = Evaluator(saved, training_dataset(saved, split))
            for way in arguments.ways:
                for shot in arguments.shots:
                    row = measure(evaluator, split, way, shot, arguments)
                    if row is not None:
                        rows.append({"model": name} | row)
    print(json.dumps(rows, indent=1))


def measure(
    evaluator: Evaluator, split: str, way: int, shot: int, arguments: Arguments
) -> dict[str, Any] | None:
    """Return the metrics of one shape; None where the data has too few classes or images."""
    tasks = arguments.tasks
    if way > 10:
        tasks = max(1, tasks // 4)
    protocol = Protocol(
        way=way,
        shot=shot,
        queries=arguments.queries,
        episodes=tasks,
        samples=128,
        seed=arguments.seed,
        split=split,
        quasi=True,
    )
    try:
        evaluator.check(protocol)
    except DataError:
        return None
    results = evaluator.evaluate(protocol, temperature=False).results
    row: dict[str, Any] = {"split": split, "way": way, "shot": shot, "tasks": tasks}
    for predictor, metrics in results.metrics.items():
        row[predictor.value] = summary(metrics)
    return row


def summary(metrics: Metrics) -> dict[str, float]:
    """Return the metrics of a predictor, rounded."""
    queries = sum(row.queries for row in metrics.reliability)
    sure = sum(row.queries * (row.confidence - row.accuracy) for row in metrics.reliability)
    return {
        "accuracy": round(metrics.accuracy.mean, 4),
        "nll": round(metrics.nll.mean, 4),
        "ece": round(metrics.ece.value, 4),
        "gap": round(sure / queries, 4),
    }


if __name__ == "__main__":
    main()
