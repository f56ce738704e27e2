"""One task with what a model believes of it, as a picture."""

import numpy as np
import torch
from matplotlib.figure import Figure

from samovar.evaluation.task_runner import TaskRunner
from samovar.prediction.predictive import Prediction
from samovar.reporting.figures.style import draw_image, plain_label, png
from samovar.settings.tasks import Protocol


def episode_figure(
    support: np.ndarray,
    support_labels: np.ndarray,
    query: np.ndarray,
    query_labels: np.ndarray,
    prediction: Prediction,
    names: list[str],
) -> bytes:
    """What the model believes in one task: the support images of each class, then queries with predictive bars.

    Images are (n, H, W, C) uint8, `prediction` is that of one task. A bar is the probability of a class, its whisker
    one standard deviation over sampled classifiers; green is the true class, red the answer where it is wrong.
    """
    way, columns = len(names), min(len(query), 6)
    rows, shown = -(-len(query) // columns), min(5, int(np.bincount(support_labels).max()))
    figure = Figure(figsize=(11, 0.9 * shown + 1.15 * rows + 1.0), layout="constrained")
    heights = [0.9 * shown + 0.5, 1.15 * rows + 0.5]
    upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=heights)[:, 0]
    upper.suptitle("support", fontsize=10)
    for panel in (panels := upper.subplots(shown, way, squeeze=False)).flat:
        panel.axis("off")
    for label in range(way):
        for row, image in enumerate(support[support_labels == label][:shown]):
            draw_image(panels[row, label], image)
        panels[0, label].set_title(f"{label}: {plain_label(names[label])}", fontsize=6.5, pad=3)
    probabilities = prediction.probabilities[0].numpy()
    spread = None if prediction.spread is None else prediction.spread[0].numpy()
    lower.suptitle(
        "queries: probability of each class, whiskers over sampled classifiers", fontsize=10
    )
    cells = lower.subplots(rows, 2 * columns, squeeze=False, width_ratios=[1, 1.3] * columns)
    for panel in cells.flat:
        panel.axis("off")
    for position, image in enumerate(query):
        row, column = divmod(position, columns)
        draw_image(cells[row, 2 * column], image)
        bars, answer, truth = (
            cells[row, 2 * column + 1],
            int(probabilities[position].argmax()),
            query_labels[position],
        )
        colors = [
            "#009E73" if n == truth else "#D55E00" if n == answer else "0.7" for n in range(way)
        ]
        bars.axis("on")
        whiskers = None if spread is None else spread[position]
        bars.barh(
            range(way),
            probabilities[position],
            xerr=whiskers,
            color=colors,
            error_kw={"linewidth": 0.8},
        )
        bars.set(xlim=(0, 1), yticks=range(way), xticks=[])
        bars.invert_yaxis()
        bars.tick_params(labelsize=6, length=0)
        bars.spines[["top", "right"]].set_visible(False)
    return png(figure)


SHOWN = 12
"""Queries in a picture."""


def draw_task(evaluator: TaskRunner, protocol: Protocol, number: int) -> bytes:
    """A task of the protocol: support images, and the probabilities that the model gives to a dozen of its queries."""
    dataset = evaluator.dataset
    episodes, prediction = evaluator.predict_task(protocol, number)
    queries = episodes.query.shape[1]
    shown = np.linspace(0, queries - 1, min(SHOWN, queries)).astype(
        int
    )  # of all classes: they come class by class
    support, query = (
        dataset.gather(indices).numpy()
        for indices in (episodes.support[0], episodes.query[0, shown])
    )
    names = [dataset.class_names[position] for position in episodes.classes[0]]
    labels, seen = episodes.query_labels[0, shown], prediction.of_queries(torch.from_numpy(shown))
    return episode_figure(support, episodes.support_labels[0], query, labels, seen, names)
