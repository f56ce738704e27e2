"""A file is read when it is asked for, and not before."""

import pytest

from samovar.data.images.image_file import ImageFile
from samovar.errors import DataError


def test_a_file_at_a_path_is_read_late(tmp_path):
    file = ImageFile.at(tmp_path / "late.png")
    with pytest.raises(DataError, match=r"late\.png cannot be read"):
        file.read()
    (tmp_path / "late.png").write_bytes(b"here")
    assert file.read() == b"here"
    assert file.name == str(tmp_path / "late.png")
