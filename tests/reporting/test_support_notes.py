"""Copies and unfit models are told in sentences."""

import pytest
from helpers import image_model
from helpers_images import make_folder
from helpers_photos import draw_photos, small_regression

from samovar.artifacts.locate import locate_model
from samovar.artifacts.saved_model import load_model
from samovar.classifier.copies import Contradiction, Copies
from samovar.data.images.image_file import ImageFile
from samovar.reporting.support_notes import copy_notes, mismatch_note


def test_nothing_is_said_where_there_is_nothing():
    assert copy_notes(Copies((0, 1), (), 0, ())) == []


def test_copies_are_named_up_to_three():
    repeated = tuple((f"{number}.jpg", "0.jpg") for number in range(1, 6))
    known, copies, contradiction = copy_notes(
        Copies((0,), repeated, 1, (Contradiction("a/0.jpg", "b/9.jpg"),))
    )
    assert known == "1 image was left out: the task has the same already."
    assert copies.startswith("5 copies were left out: 1.jpg (as 0.jpg), ")
    assert copies.endswith("and 2 more.")
    assert "a/0.jpg and b/9.jpg" in contradiction


@pytest.mark.parametrize("photographs", [True, False])
def test_only_photographs_for_a_model_of_characters_are_unfit(photographs, tmp_path):
    if photographs:
        draw_photos(tmp_path, {"disc": 3}, side=40)
    else:
        make_folder(tmp_path, {"one": 100}, 3)
    files = [ImageFile.at(path) for path in sorted(tmp_path.glob("*/*"))]
    glyphs = load_model(locate_model("glyphs"))
    assert ("colour photographs" in mismatch_note(glyphs, "glyphs", files)) == photographs
    assert mismatch_note(image_model(), "mine", files) == ""
    assert mismatch_note(small_regression(), "mine", files) == ""
