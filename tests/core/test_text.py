"""Text of others changes neither the terminal nor a spreadsheet, and fills no screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samovar.core.text import LONGEST_MESSAGE, csv_cell, message, printable, shortened


@given(st.text())
def test_printable_text_is_printable_and_as_long(text):
    assert printable(text).isprintable()
    assert len(printable(text)) == len(text)


@given(st.text(max_size=50), st.integers(0, 60))
def test_a_shortened_text_keeps_its_ends(text, most):
    short = shortened(text, most)
    if len(text) <= most:
        assert short == text
    else:
        half = most // 2
        assert short.startswith(text[:half])
        assert half == 0 or short.endswith(text[-half:])
        assert f"[... {len(text) - 2 * half} characters ...]" in short


@given(st.text())
def test_a_message_has_no_control_characters_and_no_line_that_looks_like_another(text):
    for line in message(f"x{text}").split("\n")[1:]:
        assert line.startswith("  ")
        assert line.isprintable()


def test_a_long_message_is_shortened():
    assert len(message("x" * 100_000)) < LONGEST_MESSAGE + 100


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "-2+3", "+cmd|' /C calc'!A0", "-"])
def test_what_looks_like_a_formula_gets_an_apostrophe(text):
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["cat", "-1", "+3.5", "-inf", "a=b", "", "odd\udcff"])
def test_other_cells_stay_as_they_are(text):
    assert csv_cell(text) == text
