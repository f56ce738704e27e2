"""`python -m samovar` ends without a traceback when its reader goes away or Ctrl-C comes early."""

import os
import signal
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error():
    command = f"{sys.executable} -m samovar data list --json | true"
    for unbuffered in ("", "1"):  # noticed when the output ends, or at once
        shell = ["env", f"PYTHONUNBUFFERED={unbuffered}", "bash", "-o", "pipefail", "-c", command]
        finished = subprocess.run(shell, capture_output=True, text=True, check=False)
        assert (finished.returncode, finished.stderr) == (0, "")


@pytest.mark.slow
def test_an_interrupt_among_the_first_imports_shows_no_traceback(tmp_path):
    """A module of ours interrupts the process where it is imported: before any command runs."""
    code = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
    (tmp_path / "tyro.py").write_text(code)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    finished = subprocess.run(
        [sys.executable, "-m", "samovar", "--help"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert finished.returncode == -signal.SIGINT, "as a shell expects of any program"
    assert finished.stderr == ""
