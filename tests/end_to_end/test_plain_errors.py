"""Mistakes in the shell are told in plain words with exit code 2 and no traceback."""

import subprocess
import sys

import pytest

TINY = [
    "--seeds",
    "2",
    "--monte-carlo-seeds",
    "1",
    "--steps",
    "2",
    "--samples",
    "1",
    "2",
    "--sigma-y",
    "0.5",
]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "samovar", *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sigma-y", "-1"], "--sigma-y must be greater than zero"),
        (["--sigma-y", "nan"], "--sigma-y must be greater than zero and finite"),
        (["--samples", "0"], "--samples must be greater than zero"),
        (["--samples", "3", "3"], "--samples needs at least one value, and none of them twice"),
        (["--samples"], "samples"),
        (["--tasks", "0"], "--tasks must be greater than zero"),
        (["--steps", "many"], "steps"),
        (["--no-such-flag"], "--no-such-flag"),
    ],
)
def test_bad_input_is_told_in_plain_words(arguments, message, tmp_path):
    failed = run("synthetic", *arguments, "--out", str(tmp_path / "out"))
    assert failed.returncode == 2
    assert message in failed.stderr
    assert "Traceback" not in failed.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_output_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    failed = run("synthetic", *TINY, "--out", str(tmp_path / "file"))
    assert failed.returncode == 2
    assert "Choose another folder" in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
    assert "Traceback" in run("synthetic", *TINY, "--out", str(tmp_path / "file"), "--debug").stderr
