"""A store is replaced at once, and what a killed process left is put right by the next one."""

import json
import subprocess
import sys
from pathlib import Path

import helpers
import pytest
from helpers import make_store

from samovar.core.files import exchange
from samovar.data.preparation import list_stores
from samovar.data.replacement import replace_store, store_lock, tidy_if_free
from samovar.data.store import open_store


def test_a_store_that_could_not_be_replaced_is_still_there(tmp_path):
    """Something went wrong between removing the old store and renaming the new one."""
    make_store(tmp_path, [2, 2])
    with pytest.raises(FileNotFoundError):
        replace_store(tmp_path / ".toy.writing", tmp_path / "toy")
    assert len(open_store("toy", tmp_path).array) == 4
    assert not (tmp_path / ".toy.writing.old").exists()


def test_a_store_that_was_moved_aside_is_put_back_by_whoever_looks(tmp_path):
    """Where folders cannot be swapped, a process was killed between the two renames."""
    store = make_store(tmp_path, [2, 2])
    store.folder.rename(tmp_path / ".toy.writing.old")
    (tmp_path / ".toy.writing").mkdir()
    assert list(list_stores(tmp_path)) == ["toy"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".toy.lock", "toy"]
    store.folder.rename(tmp_path / ".toy.writing.old")
    assert len(open_store("toy", tmp_path).array) == 4


def test_preparing_what_is_there_already_removes_leftovers(tmp_path):
    make_store(tmp_path, [2, 2])
    (tmp_path / ".toy.writing").mkdir()
    (tmp_path / ".toy.writing" / "data.npy").write_bytes(b"half")
    make_store(tmp_path, [2, 2])
    assert sorted(path.name for path in tmp_path.iterdir()) == [".toy.lock", "toy"]


def test_what_another_process_is_writing_is_left_alone(tmp_path):
    (tmp_path / ".toy.writing").mkdir()
    script = "import sys\nfrom pathlib import Path\n"
    script += "from samovar.data.replacement import tidy_if_free\ntidy_if_free(Path(sys.argv[1]))"
    with store_lock(tmp_path / "toy"):
        subprocess.run([sys.executable, "-c", script, tmp_path / "toy"], check=True)
        assert (tmp_path / ".toy.writing").exists()
    tidy_if_free(tmp_path / "toy")
    assert not (tmp_path / ".toy.writing").exists()


KILLED = """
import os, pathlib, shutil, sys
sys.path.insert(0, sys.argv[1])
from helpers import make_store
from samovar.core import files
import samovar.data.replacement as replacement

left = int(sys.argv[3])

def dying(function):
    def call(*arguments, **options):
        global left
        left -= 1
        if left < 0:
            os._exit(9)
        return function(*arguments, **options)
    return call

for name in ("rename", "replace", "unlink", "rmdir", "fsync", "mkdir"):
    setattr(os, name, dying(getattr(os, name)))
replacement.exchange = dying(replacement.exchange)
make_store(pathlib.Path(sys.argv[2]), [3, 3])
print(left)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="folders are swapped on Linux")
def test_a_kill_at_any_step_leaves_the_old_store_or_the_new(tmp_path):
    """The process is ended before each call that changes the disk, one after the other."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert exchange(tmp_path / "a", tmp_path / "b"), "this file system swaps folders"
    lengths = set()
    for step in range(40):
        folder = tmp_path / f"data {step}"
        make_store(folder, [2, 2])
        helpers_folder = str(Path(helpers.__file__).parent)
        run = subprocess.run(
            [sys.executable, "-c", KILLED, helpers_folder, folder, str(step)], check=False
        )
        # Not through open_store, which would tidy up.
        facts = json.loads((folder / "toy" / "store.json").read_bytes())
        lengths.add(sum(entry["count"] for entry in facts["classes"]))
        make_store(folder, [3, 3]).verify()
        assert sorted(path.name for path in folder.iterdir()) == [".toy.lock", "toy"]
        if run.returncode == 0:
            break
    assert run.returncode == 0, "the last one was not killed"
    assert lengths == {4, 6}
    assert step > 5
