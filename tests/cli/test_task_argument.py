"""What is not a task is told apart by a look at the file."""

import pytest
from helpers_images import glyph

from samovar.cli.task_argument import check_task
from samovar.errors import SamovarError


def test_images_folders_and_missing_files_are_no_tasks(tmp_path):
    glyph(1).save(tmp_path / "photo.png")
    (tmp_path / "t.safetensors").write_bytes(b"anything")
    check_task(tmp_path / "t.safetensors")
    for name, words in (
        ("photo.png", "is an image, not a task file"),
        ("", "is a folder, not a task file"),
        ("nowhere.safetensors", "There is no task file"),
    ):
        with pytest.raises(SamovarError, match=words):
            check_task(tmp_path / name)


def test_the_task_among_the_images_is_named(tmp_path):
    glyph(1).save(tmp_path / "photo.png")
    task = tmp_path / "t.safetensors"
    with pytest.raises(SamovarError, match=r"Did you mean .*t\.safetensors as the task\?"):
        check_task(tmp_path / "photo.png", [tmp_path / "photo.png", task])
