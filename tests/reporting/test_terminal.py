"""Nothing that a file is called changes the terminal."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from samovar.data.images.user_images import Unreadable
from samovar.reporting.terminal import printable, report_skipped


@given(st.text())
def test_printable_text_is_printable_and_as_long(text):
    assert printable(text).isprintable()
    assert len(printable(text)) == len(text)


def test_skipped_images_are_named_and_change_the_exit_code(capsys):
    assert report_skipped([]) == 0
    assert capsys.readouterr().err == ""
    assert report_skipped([Unreadable(Path("x.png"), "x.png\nis broken")]) == 1
    assert capsys.readouterr().err == "samovar: skipped: x.png?is broken\n"
