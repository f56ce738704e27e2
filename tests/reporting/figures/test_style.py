"""Equal figures are equal files, and any name is a label that can be drawn."""

import io

import numpy as np
from helpers_images import drawn
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from PIL import Image

from samovar.reporting.figures.style import (
    LONGEST_LABEL,
    draw_image,
    empty_panels,
    plain_label,
    png,
    wrapped_label,
)


def small_figure() -> bytes:
    figure = Figure(figsize=(1, 1))
    figure.subplots().plot([0, 1])
    return png(figure)


def test_equal_figures_are_equal_files():
    assert small_figure() == small_figure()
    with Image.open(io.BytesIO(small_figure())) as image:
        assert image.size == (200, 200)
        assert "Software" not in image.info


@given(st.text(), st.integers(8, 40))
def test_wrapped_labels_have_lines_of_the_given_width(name, width):
    lines = wrapped_label(name, width, " 99%").splitlines()
    assert max(map(len, lines)) <= width
    assert lines[-1].endswith("99%")


@given(st.text(st.characters(exclude_characters="$")))
def test_labels_are_short_and_on_one_line(name):
    label = plain_label(name)
    assert len(label) <= LONGEST_LABEL
    assert len(label.splitlines()) <= 1


def test_mathematics_in_a_name_is_drawn_as_it_is_written():
    figure = Figure(figsize=(1, 1))
    figure.suptitle(plain_label(r"$\frac{1$"))
    assert (drawn(png(figure)) < 128).any(), "the name is there, as text"


def test_grey_and_coloured_images_are_drawn_from_black_to_white():
    panels = empty_panels(Figure(), 1, 2)
    assert panels.shape == (1, 2)
    for panel, channels in zip(panels[0], (1, 3), strict=True):
        assert not panel.axison
        draw_image(panel, np.full((4, 5, channels), 100, np.uint8))
        (drawn,) = panel.images
        assert drawn.get_array().shape[:2] == (4, 5)
        assert drawn.get_clim() == (0, 255)


def test_names_that_are_not_text_can_be_drawn():
    """A folder whose name is not UTF-8 has such characters in Python."""
    assert plain_label("caf\udce9 \x1b") == "caf? ?"
