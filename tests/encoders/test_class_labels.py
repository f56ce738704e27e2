"""The first folder after those that all images share is the class."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samovar.encoders.class_labels import class_labels, shared_folders, splits_of

FOLDERS = st.lists(st.sampled_from(["a", "b", "train"]), max_size=3)


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["cat/1.jpg", "dog/2.jpg"], ["cat", "dog"]),
        (["x/y/cat/1.jpg", "x/y/dog/sub/sub/2.jpg"], ["cat", "dog"]),
        (["x\\cat\\1.jpg", "x\\dog\\2.jpg"], ["cat", "dog"]),
        (["cat/1.jpg", "cat/2.jpg"], ["", ""]),
        (["cat/1.jpg", "cat/sub/2.jpg"], ["", ""]),
        (["x/loose.jpg", "x/cat/1.jpg", "x/dog/2.jpg"], ["", "cat", "dog"]),
        (["train/cat/1.jpg", "val/cat/2.jpg"], ["cat", "cat"]),
        (["train/1.jpg", "test/2.jpg"], ["train", "test"]),
        ([], []),
    ],
)
def test_labels_are_class_folders(names, labels):
    assert class_labels(names) == labels


@given(st.lists(FOLDERS, min_size=1, max_size=6), st.lists(st.sampled_from("xyz"), max_size=3))
def test_folders_above_do_not_matter(folders, above):
    names = ["/".join([*parts, "1.jpg"]) for parts in folders]
    below = ["/".join([*above, name]) for name in names]
    assert class_labels(below) == class_labels(names)
    assert shared_folders(below) == (*above, *shared_folders(names))


def test_splits_are_noted_unless_a_class_is_in_two():
    names = ["p/train/cat/1.jpg", "p/test/dog/2.jpg"]
    assert splits_of(names, ["cat", "dog"]) == ["train", "test"]
    assert splits_of(names, ["cat", "cat"]) == ["", ""]
