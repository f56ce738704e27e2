"""Compare nonconformity scores for prediction sets on the same tasks; prints a table.

    python benchmarks/set_scores.py --vectors caltech.npz cifar100.npz omniglot.npz

By split conformal, half of the queries of each class being held out. All scores cover as asked, so
the smaller sets are better, and the more often the set of an image of no class is empty. Scores:
1 - p; the margin to the best other class; the score of the class alone; -log p + log variance;
the sum of all probabilities that are no smaller (APS), randomized, and with a penalty on many
classes (RAPS: 0.1 for each class after the first).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from numpy.typing import NDArray

from samovar import SavedModel
from samovar.artifacts.saved_regression import SavedRegression
from samovar.core.randomness import generator
from samovar.data.collections import VectorCollection, VectorTask
from samovar.models.closed_form import ClosedForm
from samovar.prediction.conformal import members, p_values, scores_needed

Array = NDArray[np.float64]
Found = dict[tuple[str, float], list[tuple[float, ...]]]
"""By score and confidence: coverage, size, share of empty sets inside and outside, of each task."""


@dataclass(frozen=True)
class Arguments:
    """What to measure."""

    vectors: tuple[Path, ...]
    tasks: int = 30
    ways: tuple[int, ...] = (2, 5, 20)
    shots: tuple[int, ...] = (2, 5, 10)
    confidences: tuple[float, ...] = (0.8, 0.9, 0.95)


def cumulative(probabilities: Array, noise: np.random.Generator, penalty: float = 0) -> Array:
    """Return the randomized scores of APS (n, N), or of RAPS with a penalty."""
    order = np.argsort(-probabilities, 1)
    ordered = np.take_along_axis(probabilities, order, 1)
    ranks = np.arange(probabilities.shape[1])
    sums = ordered.cumsum(1) - noise.random((len(ordered), 1)) * ordered + penalty * ranks
    scores = np.empty_like(sums)
    np.put_along_axis(scores, order, sums, 1)
    return scores


@torch.no_grad()
def scores_of(
    model: ClosedForm, task: VectorTask, vectors: torch.Tensor, noise: np.random.Generator
) -> dict[str, Array]:
    """Return the scores (n, N) of images by every rule; larger is worse."""
    regression = model.infer(task.support, task.support_labels, task.way)
    moments = regression.moments(vectors)
    probabilities = regression.probabilities(vectors).numpy()
    scores = moments.scores.numpy()
    log_variance = moments.variance.clamp(min=1e-12).log().numpy()[:, None]
    others = []
    for number in range(task.way):
        others.append(np.delete(scores, number, 1).max(1))
    surprise = -np.log(np.maximum(probabilities, 1e-300))
    return {
        "1 - p": surprise,
        "margin": np.stack(others, 1) - scores,
        "score of the class": -scores,
        "-log p + log variance": surprise + log_variance,
        "APS": cumulative(probabilities, noise),
        "RAPS": cumulative(probabilities, noise, 0.1),
    }


def add_task(
    found: Found, model: ClosedForm, task: VectorTask, number: int, wanted: Arguments
) -> None:
    """Add the sets of one task by every score."""
    noise = generator(0, "set scores", number)
    images = len(task.query)
    labels = task.query_labels.numpy()
    held_out = np.arange(images) % 2 == 0
    tested = np.flatnonzero(~held_out)
    outside = task.outside[:images]
    by_name = scores_of(model, task, torch.cat([task.query, outside]), noise)
    for name, scores in by_name.items():
        known = scores[:images][held_out, labels[held_out]]
        values = p_values(scores, known)
        for confidence in wanted.confidences:
            if len(known) < scores_needed(confidence):
                continue
            sets = members(values, confidence)
            inside = sets[tested]
            row = (
                float(inside[np.arange(len(tested)), labels[tested]].mean()),
                float(inside.sum(1).mean()),
                float((~inside.any(1)).mean()),
                float((~sets[images:].any(1)).mean()),
            )
            found.setdefault((name, confidence), []).append(row)


def main() -> None:
    """Measure all scores on all collections, and print their means."""
    wanted = tyro.cli(Arguments, description=__doc__)
    saved = SavedModel.from_pretrained("photos")
    assert isinstance(saved, SavedRegression)
    found: Found = {}
    for path in wanted.vectors:
        collection = VectorCollection.read(path)
        for way in wanted.ways:
            for shot in wanted.shots:
                for number in range(wanted.tasks):
                    task = collection.task(way, shot, 20, key=(3, "set scores", number))
                    add_task(found, saved.model, task, number, wanted)
    print("| score | confidence | coverage | size | empty, own classes | empty, no class |")
    print("|---|---|---|---|---|---|")
    for (name, confidence), rows in found.items():
        coverage, size, empty, empty_outside = np.mean(rows, axis=0)
        shares = f"{100 * empty:.1f} % | {100 * empty_outside:.1f} %"
        print(
            f"| {name} | {100 * confidence:g} % | {100 * coverage:.1f} % | {size:.2f} | {shares} |"
        )


if __name__ == "__main__":
    main()
