"""Glyphs have unseen scripts in the test, no two classes that look alike, and are repeatable."""

import numpy as np
import pytest
from PIL import ImageFont

from samovar.data.sources import glyphs
from samovar.data.sources.glyphs import (
    ALIKE,
    DRAWINGS,
    EM,
    GLYPHS,
    characters,
    distinct,
    faces,
    render,
    script,
    split_of,
)


@pytest.fixture(scope="module")
def fonts():
    return [ImageFont.truetype(str(face), EM) for face in faces()]


@pytest.fixture(scope="module")
def contents():
    return GLYPHS.open(None, None)


def test_twelve_faces_and_their_common_characters():
    assert len(faces()) == 12
    assert len(characters()) > 2000
    order = [split_of(character) for character in characters()]
    assert order == sorted(order, key=["train", "val", "test"].index)


def test_splits_share_no_script(contents):
    groups = {entry.name: entry.group for entry in contents.classes}
    used = {
        name: {groups[class_name] for class_name in names}
        for name, names in contents.splits["script"].items()
    }
    assert used == {
        "train": {"latin", "symbols"},
        "val": {"greek"},
        "test": {"cyrillic", "armenian", "georgian"},
    }
    assert sum(map(len, contents.splits["script"].values())) == len(contents.classes) > 1300


def test_look_alikes_are_one_class(fonts):
    """Latin A, Greek Alpha and Cyrillic A look the same; so do a comma and a low quotation mark."""
    assert distinct(["A", "\u0391", "\u0410", "B", "\u0412"], fonts) == ["A", "B"]
    assert distinct(["O", "Ω", "\u041e"], fonts) == ["O", "Ω"]
    assert distinct([".", "A"], fonts) == ["A"], "a dot is too small to see"


def test_no_two_classes_are_alike_across_or_within_splits(contents, fonts):
    chosen = [chr(int(entry.name.split()[0][2:], 16)) for entry in contents.classes][::4]
    vectors = np.array(
        [[np.asarray(render(character, font).reduce(4)) for font in fonts] for character in chosen],
        np.float32,
    )
    vectors = vectors.reshape(len(chosen), -1)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    similarity = vectors @ vectors.T - 2 * np.eye(len(chosen))
    assert similarity.max() < ALIKE


def test_drawings_are_repeatable_different_and_inside_the_picture(contents):
    position = [entry.name for entry in contents.classes].index(
        "U+0416 CYRILLIC CAPITAL LETTER ZHE"
    )
    drawings = contents.read(position)
    assert drawings.shape == (DRAWINGS, 28, 28, 1)
    np.testing.assert_array_equal(drawings, contents.read(position))
    assert len({drawing.tobytes() for drawing in drawings}) == DRAWINGS
    assert drawings.max(axis=(1, 2, 3)).min() > 150


def test_scripts():
    assert [script(character) for character in "AжΩ5→Ա"] == [
        "latin",
        "cyrillic",
        "greek",
        "symbols",
        "symbols",
        "armenian",
    ]
    assert glyphs.GLYPHS.root_hint == ""
