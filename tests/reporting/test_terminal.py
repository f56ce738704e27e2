"""Nothing that a file is called changes the terminal."""

from pathlib import Path

from samovar.data.images.user_images import Unreadable
from samovar.reporting.terminal import report_skipped


def test_skipped_images_are_named_and_change_the_exit_code(capsys):
    assert report_skipped([]) == 0
    assert capsys.readouterr().err == ""
    assert report_skipped([Unreadable(Path("x.png"), "x.png\nis broken")]) == 1
    assert capsys.readouterr().err == "samovar: skipped: x.png?is broken\n"


def test_a_reason_of_any_length_is_a_line(capsys):
    report_skipped([Unreadable(Path("x.png"), "\x1b[31m" + "x" * 10**5)])
    assert len(capsys.readouterr().err) < 3000
