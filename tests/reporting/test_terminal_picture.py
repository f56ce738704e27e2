"""A picture in the terminal has two rows of pixels on each line, in their colours."""

import pytest
from helpers_images import halves
from rich.color import ColorTriplet

from samovar.reporting.terminal_picture import terminal_picture


@pytest.mark.parametrize("size", [(16, 16), (300, 20), (20, 300), (1, 1)])
def test_it_fits_into_its_width_and_is_not_higher_than_wide(size):
    lines = terminal_picture(halves("RGB", "red", "blue", size), 24).plain.splitlines()
    assert 1 <= len(lines) <= 12
    assert all(1 <= len(line) <= 24 for line in lines)


def test_the_left_half_is_red_and_the_right_half_blue():
    text = terminal_picture(halves("RGB", "red", "blue"), 8)
    colours = [span.style.color.triplet for span in text.spans[:8]]
    assert colours[0] == ColorTriplet(255, 0, 0)
    assert colours[7] == ColorTriplet(0, 0, 255)
