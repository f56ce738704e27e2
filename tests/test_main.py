"""`python -m samovar` ends without an error when its reader goes away."""

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
