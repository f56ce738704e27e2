"""Whatever the caller has made of standard output, a command ends with a sentence."""

import os
import subprocess
import sys

import pytest

from samovar.cli.streams import prepare_streams


def run(script: str, **options) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", script], check=False, **options)


WRITE = r"""
from samovar.cli.streams import prepare_streams
prepare_streams()
print("50 % \u2588\u2588 \xb1 1 \u8594 \udcff")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("ascii", rb"50 % ## +- 1 \u8594 \udcff"),
        ("cp1252", b"50 % ## \xb1 1 \\u8594 \\udcff"),
        ("latin-1", b"50 % ## \xb1 1 \\u8594 \\udcff"),
        ("utf-8", "50 % \u2588\u2588 \xb1 1 \u8594 \\udcff".encode()),
    ],
)
def test_any_text_can_be_written_in_any_encoding(encoding, text):
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    assert run(WRITE, env=environment, stdout=subprocess.PIPE).stdout.strip() == text


@pytest.mark.slow
def test_closed_streams_are_opened_so_that_no_file_gets_their_numbers(tmp_path):
    script = f"""
import os, sys
from samovar.cli.main import main
code = main(["presets"])
with open({str(tmp_path / "x")!r}, "w") as file:
    assert file.fileno() > 2
os._exit(code)
"""
    closed = ["bash", "-c", 'exec "$@" <&- >&- 2>&-', "bash", sys.executable, "-c", script]
    assert subprocess.run(closed, check=False).returncode == 0


@pytest.mark.slow
def test_a_list_may_come_from_a_closed_input_or_hold_names_that_are_not_text():
    script = "import sys; from samovar.cli.streams import prepare_streams; prepare_streams(); "
    script += "print(ascii(sys.stdin.read()))"
    closed = ["bash", "-c", 'exec "$@" <&-', "bash", sys.executable, "-c", script]
    assert subprocess.run(closed, check=True, stdout=subprocess.PIPE).stdout == b"''\n"
    environment = os.environ | {"PYTHONIOENCODING": "utf-8:strict"}
    given = run(script, env=environment, input=b"\xff.png", stdout=subprocess.PIPE)
    assert given.stdout == b"'\\udcff.png'\n"


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")  # noqa: PTH110
def test_a_full_output_is_an_error_in_a_sentence():
    with open("/dev/full", "w") as full:  # noqa: PTH123
        failed = run(
            "import sys; from samovar.cli.main import main; sys.exit(main(['presets', '--json']))",
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert failed.returncode == 2
    assert failed.stderr.decode().startswith("samovar: ")
    assert len(failed.stderr.splitlines()) == 1


def test_nothing_changes_for_streams_that_are_there(capsys):
    prepare_streams()
    print("é")
    assert capsys.readouterr().out == "é\n"
