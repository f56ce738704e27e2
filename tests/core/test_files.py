"""Files are written whole or not at all, and a bad folder is noticed before the work."""

import errno
import os
import resource
import subprocess
import sys

import pytest

from samovar.core import files
from samovar.core.files import (
    exchange,
    output_folder,
    remove_leftovers,
    rename_new,
    whole_file,
    write_whole,
)
from samovar.errors import OutputError


def test_writes_and_replaces(tmp_path):
    target = tmp_path / "result.json"
    write_whole(target, b"old")
    write_whole(target, b"new")
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_devices_and_pipes_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    before = sorted(tmp_path.iterdir())
    for path in before:
        with pytest.raises(OutputError, match="device or a pipe"):
            write_whole(path, b"new")
    with pytest.raises(OutputError, match="null"):
        write_whole(tmp_path / "a\0b", b"new")
    assert sorted(tmp_path.iterdir()) == before
    assert not any(path.is_file() for path in before if path.name != "stdout")


def test_a_pipe_that_looks_like_a_leftover_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / ".result.json.0123abcd")
    write_whole(tmp_path / "result.json", b"new")
    assert (tmp_path / "result.json").read_bytes() == b"new"


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


def test_what_a_killed_process_left_is_removed_by_the_next_writer_of_the_same_file(tmp_path):
    (tmp_path / ".result.json.0123abcd").write_bytes(b"half")
    (tmp_path / ".other.json.0123abcd").write_bytes(b"of another file")
    (tmp_path / ".hidden").write_bytes(b"a user's")
    write_whole(tmp_path / "result.json", b"new")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [".hidden", ".other.json.0123abcd", "result.json"]
    remove_leftovers(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".hidden", "result.json"]


def test_what_another_process_is_writing_is_not_removed(tmp_path):
    with whole_file(tmp_path / "result.json") as file:
        file.write(b"first")
        script = (
            "import sys, pathlib\n"
            "from samovar.core.files import write_whole\n"
            "write_whole(pathlib.Path(sys.argv[1]), b'second')"
        )
        subprocess.run([sys.executable, "-c", script, tmp_path / "result.json"], check=True)
        assert (tmp_path / "result.json").read_bytes() == b"second"
    assert (tmp_path / "result.json").read_bytes() == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError])
def test_an_error_in_the_block_leaves_the_old_file(tmp_path, error):
    (tmp_path / "x").write_bytes(b"old")
    with pytest.raises(OutputError if error is OSError else error), whole_file(tmp_path / "x"):
        raise error
    assert (tmp_path / "x").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_two_folders_swap_places_or_stay(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    swapped = exchange(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a" / ("b" if swapped else "a")).exists()
    assert not exchange(tmp_path / "a", tmp_path / "missing")
    assert (tmp_path / "a").exists()


@pytest.mark.parametrize("in_one_step", [True, False])
def test_a_new_name_never_replaces_anything(in_one_step, tmp_path, monkeypatch):
    if not in_one_step:  # as on systems without Linux's call
        monkeypatch.setattr(files, "_renameat2", lambda *_: errno.ENOSYS)
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    with pytest.raises(FileExistsError):
        rename_new(tmp_path / "a", tmp_path / "b")
    rename_new(tmp_path / "a", tmp_path / "c")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"b": "b", "c": "a"}
    with pytest.raises(FileNotFoundError):
        rename_new(tmp_path / "a", tmp_path / "d")


def test_a_whole_file_may_be_asked_to_replace_nothing(tmp_path):
    target = tmp_path / "photo.jpg"
    with whole_file(target, replace=False) as file:
        file.write(b"first")
    with pytest.raises(FileExistsError), whole_file(target, replace=False) as file:
        file.write(b"second")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"photo.jpg": b"first"}
