"""Pictures of tasks are drawn for any numbers and names, and show the protocol's tasks."""

import io
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from helpers_images import has_color
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image, ImageColor

from samovar.evaluation.evaluator import Evaluator, training_dataset
from samovar.prediction.predictive import Prediction
from samovar.reporting.figures.episode import DrawnTask, _draw_support, draw_task, episode_figure
from samovar.reporting.figures.style import GREEN, VERMILION
from samovar.settings.tasks import Protocol


def test_drawn_tasks_are_those_of_the_protocol(trained):
    """Pooled queries are drawn as they are evaluated, even if no class has as many images."""
    pooled = Protocol(3, 8, 70, pooled_queries=True, episodes=1, samples=5, quasi=True)
    evaluator = Evaluator(trained, training_dataset(trained, "test")).runner(pooled)
    picture = draw_task(evaluator, pooled, 0)
    assert has_color(picture, GREEN), "some true class has a probability"
    assert picture != draw_task(evaluator, pooled, 1), "every task has its own picture"


def drawn_task(way: int, channels: int) -> DrawnTask:
    """Random images under hostile names; the first class has three support images, others one."""
    noise = np.random.default_rng(0)
    return DrawnTask(
        support=noise.integers(0, 256, (way + 2, 8, 8, channels), np.uint8),
        support_labels=np.concatenate([np.arange(way), [0, 0]]),
        query=noise.integers(0, 256, (7, 8, 8, channels), np.uint8),
        query_labels=noise.integers(0, way, 7),
        names=["$\\frac{1$", "a\nb", "<b>c</b>", "d" * 200, "e"][:way],
    )


@pytest.mark.parametrize(("way", "channels", "deterministic"), [(2, 1, True), (5, 3, False)])
def test_episode_figure(way, channels, deterministic):
    probabilities = torch.rand(1, 7, way).softmax(-1)
    spread = None if deterministic else 0.1 * probabilities
    prediction = Prediction(probabilities, torch.zeros(1, 7), spread)
    with_whiskers = Prediction(probabilities, torch.zeros(1, 7), 0.1 * probabilities)
    picture = episode_figure(drawn_task(way, channels), prediction)
    assert has_color(picture, GREEN)
    same = picture == episode_figure(drawn_task(way, channels), with_whiskers)
    assert same != deterministic, "whiskers are drawn if there is a deviation"


def test_long_names_of_many_classes_do_not_run_into_each_other():
    task = drawn_task(5, 1)
    names = [f"U+{number} CYRILLIC CAPITAL LETTER" for number in range(10)]
    many = replace(task, names=names, support_labels=np.array([*range(7)]))
    figure = Figure(figsize=(11, 3))
    _draw_support(figure, many, 1)
    FigureCanvasAgg(figure).draw()
    boxes = [panel.title.get_window_extent() for panel in figure.axes]
    for left, right in pairwise(boxes):
        assert left.x1 < right.x0


def test_right_answers_are_green_and_wrong_ones_red():
    task = drawn_task(3, 1)
    truth = torch.from_numpy(task.query_labels)

    def colors(answers: torch.Tensor) -> set[tuple[int, ...]]:
        probabilities = torch.nn.functional.one_hot(answers, 3)[None].float()
        picture = episode_figure(task, Prediction(probabilities, torch.zeros(1, 7), None))
        with Image.open(io.BytesIO(picture)) as image:
            pixels = np.unique(np.array(image.convert("RGB")).reshape(-1, 3), axis=0)
        return {tuple(pixel) for pixel in pixels.tolist()}

    green, red = ImageColor.getrgb(GREEN), ImageColor.getrgb(VERMILION)
    assert green in colors(truth)
    assert red not in colors(truth)
    assert red in colors((truth + 1) % 3)
