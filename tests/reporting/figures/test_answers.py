"""The picture has a panel for every image, up to sixty."""

import io

import numpy as np
import pytest
from PIL import Image

from samovar.reporting.answers import AnswerRow
from samovar.reporting.figures.answers import answers_figure


def row(rejected: bool = False) -> AnswerRow:
    label = "none of these" if rejected else "$cat\n"
    return AnswerRow(
        "a.png", label, "$cat\n", {"$cat\n": 0.9, "dog": 0.1}, 0.3, None, rejected, 0.2
    )


def size(images: int) -> tuple[int, int]:
    pictures = [np.full((4, 4, 3), 9 * number % 256, np.uint8) for number in range(images)]
    content = answers_figure(pictures, [row(number % 2 == 1) for number in range(images)])
    with Image.open(io.BytesIO(content)) as picture:
        assert picture.format == "PNG"
        return picture.size


@pytest.mark.parametrize(("images", "columns", "lines"), [(1, 1, 1), (7, 6, 2)])
def test_the_size_follows_the_number_of_images(images, columns, lines):
    width, height = size(images)
    assert width == pytest.approx(380 * columns, abs=2)
    assert height == pytest.approx(460 * lines, abs=2)


def test_what_is_left_out_is_said_below():
    assert size(62)[1] == pytest.approx(10 * 460 + 60, abs=2)
