"""Every character is drawn, or named by its code point."""

import numpy as np
import pytest
from helpers_images import drawn
from matplotlib.figure import Figure

from samovar.reporting.figures.fonts import Fonts
from samovar.reporting.figures.style import png

UNUSED = "\U0010fffd"
"""A character for private use, which no font has."""


def test_the_usual_font_is_enough_for_many_scripts():
    fonts = Fonts.for_texts(["été", "Καφές", "жёлтый", "1 $"])
    assert fonts.families == ["DejaVu Sans"]
    assert fonts.drawable("été\nЖ") == "été\nЖ"


def test_what_no_font_has_is_named():
    fonts = Fonts.for_texts([f"a{UNUSED}b"])
    assert fonts.missing == {UNUSED}
    assert fonts.drawable(f"a{UNUSED}{UNUSED}b") == "a U+10FFFD U+10FFFD b"


@pytest.mark.parametrize("text", ["薔薇", "बिल्ली", "قطة", "🐱", f"{UNUSED}\ufe0f"])
def test_no_text_makes_a_warning(text):
    """Warnings are errors here; whether the letters are there depends on the system."""
    fonts = Fonts.for_texts([text])
    figure = Figure(figsize=(4, 2))
    figure.suptitle(f"x {fonts.drawable(text)}", fontfamily=fonts.families)
    assert np.ptp(drawn(png(figure))) > 0
