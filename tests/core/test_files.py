"""Files are written whole or not at all, and a bad folder is noticed before the work."""

import resource
import subprocess
import sys

import pytest

from samovar.core.files import output_folder, write_whole
from samovar.errors import OutputError


def test_writes_and_replaces(tmp_path):
    target = tmp_path / "result.json"
    write_whole(target, b"old")
    write_whole(target, b"new")
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_folder_that_is_a_file(tmp_path):
    (tmp_path / "taken").write_text("here first")
    with pytest.raises(OutputError, match="taken"):
        output_folder(tmp_path / "taken")
    with pytest.raises(OutputError, match="Choose another folder"):
        output_folder(tmp_path / "taken" / "below")


@pytest.mark.slow
def test_full_disk_leaves_the_old_file_and_nothing_else(tmp_path):
    """A limit on the size of files makes write() fail midway, as a full disk does."""
    target = tmp_path / "result.json"
    target.write_bytes(b"old")
    script = (
        "import sys, pathlib\n"
        "from samovar.core.files import write_whole\n"
        "from samovar.errors import OutputError\n"
        "try: write_whole(pathlib.Path(sys.argv[1]), b'x' * 100_000)\n"
        "except OutputError as error: print(error)"
    )

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    run = subprocess.run(
        [sys.executable, "-c", script, target],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(target) in run.stdout
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]
