"""Nothing that a file is called changes the terminal."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from samovar.data.images.left_out import LeftOut
from samovar.data.images.user_images import Unreadable
from samovar.reporting.terminal import printable, report_left_out, report_skipped, shortened


@given(st.text())
def test_printable_text_is_printable_and_as_long(text):
    assert printable(text).isprintable()
    assert len(printable(text)) == len(text)


def test_skipped_images_are_named_and_change_the_exit_code(capsys):
    assert report_skipped([]) == 0
    assert capsys.readouterr().err == ""
    assert report_skipped([Unreadable(Path("x.png"), "x.png\nis broken")]) == 1
    assert capsys.readouterr().err == "samovar: skipped: x.png?is broken\n"


def test_a_reason_of_any_length_is_a_line(capsys):
    report_skipped([Unreadable(Path("x.png"), "\x1b[31m" + "x" * 10**5)])
    assert len(capsys.readouterr().err) < 3000


def test_long_names_lose_their_middle_whatever_the_width_of_their_characters():
    for text in ("image_0003.jpg", "a" * 99, "薔薇" * 20, "e\u0301" * 50):
        for width in (1, 2, 7, 20):
            short = shortened(text, width)
            assert cell_len(short) <= width
            assert short == text or "…" in short
    assert shortened("a_very_long_name_0003.jpg", 15).endswith("003.jpg")


def test_what_was_left_out_is_said_and_counts_if_images_are_among_it(capsys):
    left_out = LeftOut()
    assert report_left_out(None) == report_left_out(left_out) == 0
    assert capsys.readouterr().err == ""
    left_out.add_file(Path("notes.txt"))
    assert report_left_out(left_out, "Look there.") == 0
    assert capsys.readouterr().err == "samovar: left out: 1 .txt file.\nsamovar: Look there.\n"
    left_out.needs[".heic image"] = "install it"
    assert report_left_out(left_out) == 1
