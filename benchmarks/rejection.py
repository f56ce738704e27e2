"""Measure how often "none of these" is right, at the rates that are asked for; prints JSON.

    python benchmarks/rejection.py --model glyphs --data glyphs
    python benchmarks/rejection.py --model cifar_fs --data grocery32 --split train

grocery32 is made as in docs/own_images.md. Tasks are fitted by FewShotClassifier, as a user would.
`belong` is the share of queries of the task's classes that are rejected, `others` that of as many
queries of other classes; `others_by_entropy` is the share of the latter that the entropy of the
predictive would reject if it rejected as many of those that belong.
"""

import json

import numpy as np
import tyro
from numpy.typing import NDArray

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_model import fit_model
from samovar.classifier.loading import ready_model
from samovar.core.allocator import tune_allocator
from samovar.core.devices import device_named
from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler, draw_outside
from samovar.data.preparation import ready
from samovar.settings.tasks import EpisodeSettings

RATES = (0.05, 0.1, 0.2)


def measure(
    model: str, data: str, split: str, settings: EpisodeSettings, tasks: int
) -> dict[str, object]:
    """Return the shares over all queries of the tasks."""
    dataset = Dataset(ready(data), split)
    episodes = EpisodeSampler(dataset, settings, seed=0).draw(0, tasks)
    outside = draw_outside(dataset, episodes, 0, episodes.query.shape[1], seed=0)
    device = device_named("auto")
    saved = ready_model(model, device)
    rejected: dict[float, list[NDArray[np.bool_]]] = {rate: [] for rate in RATES}
    entropy = []
    for task in range(tasks):
        support = list(dataset.gather(episodes.support[task]))
        labels = episodes.support_labels[task].tolist()
        fitted = fit_model(saved, device, support, labels)
        queries = np.concatenate([episodes.query[task], outside[task]])
        images = list(dataset.gather(queries))
        for rate in RATES:
            answer = fitted.answer(images, AnswerParameters(reject=rate))
            rejected[rate].append(answer.rejected)
        entropy.append(answer.uncertainty.entropy)  # the same at every rate
    inside = episodes.query.shape[1]
    rows = []
    for rate in RATES:
        row = shares(np.stack(rejected[rate]), np.stack(entropy), inside)
        rows.append({"asked": rate} | row)
    return {
        "model": model,
        "data": dataset.description,
        "tasks": f"{tasks} of {settings.way}-way {settings.shot}-shot",
        "rates": rows,
    }


def shares(
    rejected: NDArray[np.bool_], entropy: NDArray[np.float64], inside: int
) -> dict[str, float]:
    """Return the shares of rejected queries; both arrays are (tasks, queries), insiders first."""
    belong = float(rejected[:, :inside].mean())
    # The entropy above which as many of the queries that belong would be rejected.
    threshold = np.quantile(entropy[:, :inside], 1 - belong)
    return {
        "belong": round(belong, 3),
        "others": round(float(rejected[:, inside:].mean()), 3),
        "others_by_entropy": round(float((entropy[:, inside:] > threshold).mean()), 3),
    }


def main(
    model: str = "glyphs",
    data: str = "glyphs",
    split: str = "test",
    way: int = 5,
    shot: int = 5,
    tasks: int = 200,
) -> None:
    """Print the shares for one model on one data set.

    Args:
        model: A shipped model, or a model folder.
        data: A prepared data set whose images have the model's shape.
        split: The part of it that tasks are drawn from.
        way: Classes of a task.
        shot: Support images of each class.
        tasks: The number of tasks.
    """
    print(json.dumps(measure(model, data, split, EpisodeSettings(way, shot, 10), tasks), indent=1))


if __name__ == "__main__":
    tune_allocator()
    tyro.cli(main)
