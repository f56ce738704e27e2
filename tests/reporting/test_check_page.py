"""check.html shows what was found, with pictures, and takes names for text."""

import dataclasses

from helpers_check import FULL
from PIL import Image

from samovar.classifier.check_report import CheckReport
from samovar.prediction.changed_camera import CameraChange
from samovar.reporting.check_page import MOST_PICTURES, camera_text, check_page, summary

CLEAN = CheckReport(30, (), (), (), ())


def picture(_: object) -> Image.Image:
    return Image.new("RGB", (20, 10), "red")


def test_everything_that_was_found_is_on_the_page_as_text():
    page = check_page("Check of <x>", FULL, picture)
    assert "<b>cat/&lt;b&gt;.jpg</b>" in page
    assert page.count("data:image/jpeg;base64,") == 5
    assert page.count('class="group across"') == 1
    for text in ("pear", "5 of 12", "plum", "another camera", "&lt;x&gt;"):
        assert text in page
    assert "<script" not in page


def test_a_clean_page_says_so_and_has_no_sections():
    page = check_page("Check", CLEAN, picture)
    assert "nothing was found" in page
    assert "<h2>" not in page


def test_without_pictures_there_are_names_and_there_are_not_too_many():
    assert "<img" not in check_page("Check", FULL, lambda _: None)
    many = dataclasses.replace(FULL, suspects=FULL.suspects * (MOST_PICTURES + 9))
    page = check_page("Check", many, picture)
    assert page.count("<img") == MOST_PICTURES
    assert page.count("More like dog") == MOST_PICTURES + 9


def test_the_summary_counts_in_words():
    assert summary(FULL) == (
        "30 images were checked. Found: 1 probably wrong label, 2 groups of duplicates, 1 pair of "
        "classes that cannot be told apart, 2 classes with too few images, new images from another "
        "camera."
    )


def test_the_camera_is_described_either_way():
    assert "another camera" in camera_text(FULL)
    same = dataclasses.replace(FULL, camera=CameraChange(0.4, 1.0))
    assert "may come from the same camera" in camera_text(same)
    assert camera_text(CLEAN) == ""
