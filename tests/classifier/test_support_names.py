"""Names and checksums survive a task file, and what is wrong with them is refused."""

import json
from dataclasses import replace

import pytest

from samovar.classifier.leave_one_out import LeaveOneOut, Mistake
from samovar.classifier.support_names import LONGEST_NAME, SupportNames, WrongImage, wrong_images

NAMES = SupportNames(("a/1.jpg", "b/2.jpg"), ("a", "b"), ("1" * 16, "2" * 16))
MEASURED = LeaveOneOut(2, 0.5, None, (Mistake(1, "b", "a"),))
COUNTS = {"a": 1, "b": 1}


def test_names_come_back_from_json_with_what_leave_one_out_has_found():
    names = NAMES.with_wrong(MEASURED)
    assert names.wrong == (WrongImage("b/2.jpg", "b", "a"),)
    stored = json.loads(json.dumps(names.to_json()))
    assert SupportNames.from_json(stored, COUNTS) == names


def test_a_long_name_keeps_its_end_and_can_be_read_again():
    long = replace(NAMES, names=("x" * 60_000 + ".jpg", "b/2.jpg"))
    stored = json.loads(json.dumps(long.to_json()))
    name, other = SupportNames.from_json(stored, COUNTS).names
    assert name == "x" * (LONGEST_NAME - 4) + ".jpg"
    assert other == "b/2.jpg"


def test_images_without_names_are_called_by_their_positions():
    assert wrong_images(MEASURED) == [WrongImage(1, "b", "a")]
    assert wrong_images(None) == []


def test_names_of_more_images_follow_and_some_can_be_chosen():
    both = NAMES + NAMES
    assert both.names == ("a/1.jpg", "b/2.jpg") * 2
    assert both.at([3, 0]).labels == ("b", "a")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("names", ["a/1.jpg"]),
        ("names", [1, 2]),
        ("names", "ab"),
        ("names", ["x" * 9999, "y"]),
        ("labels", ["a", "a"]),
        ("labels", ["a", None]),
        ("labels", ["a", ["b"]]),
        ("digests", ["1", "2" * 99]),
        ("digests", None),
        ("wrong", [{"image": 1}]),
        ("wrong", [{"image": [1], "label": "a", "answer": "b"}]),
        ("wrong", {}),
        ("more", 1),
    ],
)
def test_other_contents_are_refused(field, value):
    with pytest.raises(ValueError, match="its "):
        SupportNames.from_json(NAMES.to_json() | {field: value}, COUNTS)
