"""The images of a check are read with their copies, and shown as long as they are there."""

from pathlib import Path

import pytest
import torch
from helpers_photos import draw_photos

from samovar.classifier.check_report import CheckReport, Duplicates
from samovar.cli.check_support import CheckedImages, checked_folder, compared_camera, move_found
from samovar.cli.fit_choices import Choices
from samovar.errors import DataError

CHOICES = Choices("glyphs", None, None, None, None, 0)


@pytest.fixture
def images(tmp_path) -> CheckedImages:
    folder = draw_photos(tmp_path / "photos", {"disc": 3, "bars": 2}, side=40)
    (folder / "disc" / "copy.jpg").write_bytes((folder / "disc" / "0.jpg").read_bytes())
    return checked_folder(folder, CHOICES, torch.device("cpu"), follow_links=False, cache=False)


def test_copies_are_among_them_with_looks_for_each(images):
    assert list(images.names).count("disc/copy.jpg") == 1
    assert len(images.names) == len(images.looks) == 6
    assert images.code == 0


def test_a_picture_is_shown_while_its_file_is_there(images, tmp_path):
    assert max(images.picture("disc/0.jpg").size) <= 240
    (tmp_path / "photos" / "disc" / "0.jpg").unlink()
    assert images.picture("disc/0.jpg") is None
    assert images.picture("unknown") is None


def test_redundant_copies_are_moved_under_free_names(images, tmp_path):
    group = Duplicates(("disc/0.jpg", "disc/copy.jpg"), ("disc", "disc"))
    report = CheckReport(6, (), (group,), (), ())
    into = tmp_path / "moved"
    (into / "disc").mkdir(parents=True)
    (into / "disc" / "copy.jpg").write_text("in the way")
    assert move_found(report, images, into) == (1, [])
    assert (into / "disc" / "copy (2).jpg").exists()
    assert (into / "disc" / "copy.jpg").read_text() == "in the way"
    assert Path(images.files["disc/0.jpg"].name).exists()


def test_cameras_need_an_encoder(images, tmp_path):
    with pytest.raises(DataError, match="encoder"):
        compared_camera(images, tmp_path / "photos", False, False)
