"""Only regular files are read, and no more of them than agreed."""

import os

import pytest

from samovar.core.input_files import open_input, read_input
from samovar.errors import DataError


def test_a_file_is_read_up_to_its_limit(tmp_path):
    (tmp_path / "x").write_bytes(b"12345")
    assert read_input(tmp_path / "x", 5) == b"12345"
    with pytest.raises(DataError, match=r"x has 5 bytes; at most 4 are read"):
        read_input(tmp_path / "x", 4)


def test_what_is_not_a_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "endless", "folder"):
        with pytest.raises(DataError, match=f"{name} is not a file"):
            open_input(tmp_path / name)


@pytest.mark.parametrize("name", ["missing", "null\0character", "long" * 100])
def test_what_cannot_be_opened_is_named(tmp_path, name):
    with pytest.raises(DataError, match=r"cannot be read: "):
        open_input(tmp_path / name)
