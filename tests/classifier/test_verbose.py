"""Progress is a line that is written anew, or nothing."""

import io

from samovar.classifier.verbose import verbose_progress


def test_the_line_changes_with_each_percent_and_ends():
    stream = io.StringIO()
    show = verbose_progress(True, stream)
    for number in range(1, 1001):
        show(f"{number} of 1000 images", number / 1000)
    text = stream.getvalue()
    assert text.count("\r") == 101
    assert text.endswith("\rsamovar: 1000 of 1000 images, 100 %\n")


def test_silence_is_the_default(capsys):
    verbose_progress(False)("1 of 2 images", 0.5)
    assert capsys.readouterr() == ("", "")
