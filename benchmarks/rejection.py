"""How often "none of these" is right, at the rates that are asked for. Prints JSON.

    python benchmarks/rejection.py --model glyphs --data glyphs
    python benchmarks/rejection.py --model cifar_fs --data grocery32 --split train     (made as in docs/own_images.md)

Tasks are fitted as a user would, by FewShotClassifier. `belong` is the share of queries of the task's classes that are
rejected, `others` that of as many queries of other classes; `others_by_entropy` is what the entropy of the predictive
would find with as many rejected of those that belong.
"""

import json

import numpy as np
import tyro
from numpy.typing import NDArray

from samovar.artifacts.saved_model import SavedModel
from samovar.classifier.estimator import FewShotClassifier
from samovar.core.allocator import tune_allocator
from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler, draw_outside
from samovar.data.preparation import ready
from samovar.settings.tasks import EpisodeSettings

RATES = (0.05, 0.1, 0.2)


def measure(
    model: str, data: str, split: str, settings: EpisodeSettings, tasks: int
) -> dict[str, object]:
    """Shares over all queries of the tasks."""
    dataset = Dataset(ready(data), split)
    episodes = EpisodeSampler(dataset, settings, seed=0).draw(0, tasks)
    outside = draw_outside(dataset, episodes, 0, episodes.query.shape[1], seed=0)
    saved = SavedModel.from_pretrained(model)
    rejected: dict[float, list[NDArray[np.bool_]]] = {rate: [] for rate in RATES}
    entropy = []
    for task in range(tasks):
        classifier = FewShotClassifier(saved)
        classifier.begin()
        classifier.add_converted(
            list(dataset.gather(episodes.support[task]).numpy()), episodes.support_labels[task]
        )
        queries = np.concatenate([episodes.query[task], outside[task]])
        images = list(dataset.gather(queries).numpy())
        for rate in RATES:
            classifier.reject = rate
            answer = classifier.answer_converted(images)
            rejected[rate].append(answer.rejected)
        entropy.append(answer.uncertainty.entropy)
    belong = episodes.query.shape[1]
    doubt = np.stack(entropy)
    found = []
    for rate in RATES:
        shares = np.stack(rejected[rate])
        own = float(shares[:, :belong].mean())
        equal = float((doubt[:, belong:] > np.quantile(doubt[:, :belong], 1 - own)).mean())
        row = {
            "asked": rate,
            "belong": own,
            "others": float(shares[:, belong:].mean()),
            "others_by_entropy": equal,
        }
        found.append({name: round(value, 3) for name, value in row.items()})
    shape = f"{settings.way}-way {settings.shot}-shot"
    return {
        "model": model,
        "data": dataset.description,
        "tasks": f"{tasks} of {shape}",
        "rates": found,
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
        data: A prepared store whose images have the model's shape.
        split: The part of it that tasks are drawn from.
        way: Classes of a task.
        shot: Images of each class.
        tasks: How many.
    """
    print(json.dumps(measure(model, data, split, EpisodeSettings(way, shot, 10), tasks), indent=1))


if __name__ == "__main__":
    tune_allocator()
    tyro.cli(main)
