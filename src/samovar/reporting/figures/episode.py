"""One task with what a model believes about it, as a picture.

Support images stand above, queries with the probabilities of the classes below. `draw_task` draws a
task of a protocol, `episode_figure` any task that is given as arrays.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

from samovar.evaluation.task_runner import TaskRunner
from samovar.prediction.predictive import Prediction
from samovar.reporting.figures.style import (
    GREEN,
    VERMILION,
    draw_image,
    empty_panels,
    png,
    wrapped_label,
)
from samovar.settings.tasks import Protocol

MOST_QUERIES = 12
"""Queries in a picture of a protocol's task."""
MOST_SUPPORT = 5
"""Support images of a class in a picture."""
MOST_COLUMNS = 6
"""Queries beside each other."""
TITLE_CHARACTERS = 200
"""Characters of the class names that fit side by side across the picture."""


@dataclass(frozen=True)
class DrawnTask:
    """A task to be drawn. Images are (n, H, W, C) uint8; labels are positions in `names`."""

    support: np.ndarray
    support_labels: np.ndarray
    query: np.ndarray
    query_labels: np.ndarray
    names: list[str]


def episode_figure(task: DrawnTask, prediction: Prediction) -> bytes:
    """Draw the support images of each class, then queries with probabilities as bars.

    `prediction` is that of this one task. The whisker of a bar is one standard deviation over
    sampled classifiers. Green is the true class, orange the model's answer where it is wrong.
    """
    columns = min(len(task.query), MOST_COLUMNS)
    rows = math.ceil(len(task.query) / columns)
    shown = min(MOST_SUPPORT, int(np.bincount(task.support_labels).max()))
    figure = Figure(figsize=(11, 0.9 * shown + 1.15 * rows + 1.0), layout="constrained")
    heights = [0.9 * shown + 0.5, 1.15 * rows + 0.5]
    upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=heights)[:, 0]
    _draw_support(upper, task, shown)
    _draw_queries(lower, task, prediction, (rows, columns))
    return png(figure)


def _draw_support(figure: Any, task: DrawnTask, shown: int) -> None:
    figure.suptitle("support", fontsize=10)
    panels = empty_panels(figure, shown, len(task.names))
    width = max(8, TITLE_CHARACTERS // len(task.names))
    for label, name in enumerate(task.names):
        images = task.support[task.support_labels == label]
        for row, image in enumerate(images[:shown]):
            draw_image(panels[row, label], image)
        title = wrapped_label(f"{label}: {name}", width)
        panels[0, label].set_title(title, fontsize=6.5, pad=3)


def _draw_queries(
    figure: Any, task: DrawnTask, prediction: Prediction, grid: tuple[int, int]
) -> None:
    """Draw queries in a grid of (rows, columns); each has two panels: the image and its bars."""
    rows, columns = grid
    figure.suptitle(
        "queries: probability of each class, whiskers over sampled classifiers", fontsize=10
    )
    panels = empty_panels(figure, rows, 2 * columns, width_ratios=[1, 1.3] * columns)
    probabilities = prediction.probabilities[0].numpy()
    for position, image in enumerate(task.query):
        row, column = divmod(position, columns)
        draw_image(panels[row, 2 * column], image)
        whiskers = None
        if prediction.spread is not None:
            whiskers = prediction.spread[0, position].numpy()
        bars = panels[row, 2 * column + 1]
        _draw_bars(bars, probabilities[position], whiskers, int(task.query_labels[position]))


def _draw_bars(
    panel: Any, probabilities: np.ndarray, whiskers: np.ndarray | None, truth: int
) -> None:
    colors = ["0.7"] * len(probabilities)
    colors[int(probabilities.argmax())] = VERMILION
    colors[truth] = GREEN  # last: a right answer is green
    panel.axis("on")
    panel.barh(
        range(len(probabilities)),
        probabilities,
        xerr=whiskers,
        color=colors,
        error_kw={"linewidth": 0.8},
    )
    panel.set(xlim=(0, 1), yticks=range(len(probabilities)), xticks=[])
    panel.invert_yaxis()
    panel.tick_params(labelsize=6, length=0)
    panel.spines[["top", "right"]].set_visible(False)


def draw_task(runner: TaskRunner, protocol: Protocol, number: int) -> bytes:
    """Draw a task of the protocol with the model's probabilities for a dozen of its queries."""
    dataset = runner.dataset
    episodes, prediction = runner.predict_task(protocol, number)
    # Queries come class by class: evenly spaced ones show all classes.
    queries = episodes.query.shape[1]
    shown = np.linspace(0, queries - 1, min(MOST_QUERIES, queries)).astype(int)
    task = DrawnTask(
        support=dataset.gather(episodes.support[0]).numpy(),
        support_labels=episodes.support_labels[0],
        query=dataset.gather(episodes.query[0, shown]).numpy(),
        query_labels=episodes.query_labels[0, shown],
        names=[dataset.class_names[position] for position in episodes.classes[0]],
    )
    return episode_figure(task, prediction.of_queries(torch.from_numpy(shown)))
