"""Unfit models are told in a sentence."""

import pytest
from helpers import image_model
from helpers_images import make_folder
from helpers_photos import draw_photos, small_regression

from samovar.artifacts.locate import locate_model
from samovar.artifacts.saved_model import load_model
from samovar.data.images.image_file import ImageFile
from samovar.reporting.support_notes import mismatch_note


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
