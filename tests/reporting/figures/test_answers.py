"""The picture has a panel for every image, up to sixty."""

from dataclasses import replace

import numpy as np
import pytest
from helpers_images import drawn, has_color

from samovar.reporting.answers import AnswerRow
from samovar.reporting.figures.answers import answers_figure, doubtful_first
from samovar.reporting.figures.style import DARK_GREEN, VERMILION


def row(rejected: bool = False) -> AnswerRow:
    label = "none of these" if rejected else "$cat\n"
    return AnswerRow(
        "a.png", label, "$cat\n", {"$cat\n": 0.9, "dog": 0.1}, 0.3, None, rejected, 0.2
    )


def size(images: int) -> tuple[int, int]:
    pictures = [np.full((4, 4, 3), 9 * number % 256, np.uint8) for number in range(images)]
    content = answers_figure(pictures, [row(number % 2 == 1) for number in range(images)])
    height, width, _ = drawn(content).shape
    return width, height


@pytest.mark.parametrize(("images", "columns", "lines"), [(1, 1, 1), (7, 6, 2)])
def test_the_size_follows_the_number_of_images(images, columns, lines):
    width, height = size(images)
    assert width == pytest.approx(380 * columns, abs=2)
    assert height == pytest.approx(460 * lines, abs=2)


@pytest.mark.parametrize("rejected", [False, True])
def test_the_colour_of_a_label_tells_whether_the_image_was_rejected(rejected):
    content = answers_figure([np.zeros((4, 4, 3), np.uint8)], [row(rejected)])
    assert has_color(content, VERMILION) == rejected
    assert has_color(content, DARK_GREEN) != rejected


def test_long_labels_do_not_run_into_each_other():
    """Between two images there is no ink, however long their labels are."""
    long = replace(row(), label="a class with quite a long name", probabilities={"a": 1.0})
    pixels = drawn(answers_figure([np.zeros((4, 4, 3), np.uint8)] * 2, [long, long]))
    middle = pixels.shape[1] // 2
    np.testing.assert_array_equal(pixels[:, middle - 2 : middle + 2], 255)


def test_what_is_left_out_is_said_below():
    assert size(62)[1] == pytest.approx(10 * 460 + 60, abs=2)


def test_rejected_and_doubtful_answers_come_first():
    rows = []
    for probability, rejected in ((0.9, False), (0.6, False), (0.95, True), (0.4, False)):
        probabilities = {"a": probability, "b": 1 - probability}
        rows.append(replace(row(rejected), probabilities=probabilities))
    assert doubtful_first(rows) == [2, 1, 3, 0], "0.4 of two classes is 0.6 of the other"
