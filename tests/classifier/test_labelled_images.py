"""Images and labels in every form that a user may have them."""

import numpy as np
import pytest
from helpers_photos import draw_photos
from PIL import Image

from samovar.classifier.labelled_images import labelled, queries, relative_names
from samovar.data.images.image_file import ImageFile
from samovar.errors import DataError


@pytest.fixture
def folder(tmp_path):
    return draw_photos(tmp_path / "photos", {"disc": 2, "bars": 1}, side=40)


def test_class_folders_need_no_labels(folder):
    found = labelled(folder, None)
    assert found.labels.tolist() == ["bars", "disc", "disc"]
    assert found.file_names == ["bars/0.jpg", "disc/0.jpg", "disc/1.jpg"]
    for file in found.images:
        file.read()
    assert len(set(found.names().digests)) == 3
    with pytest.raises(ValueError, match="requires y to be passed"):
        labelled([folder / "disc" / "0.jpg"], None)


def test_paths_have_names_and_arrays_have_none(folder):
    paths = sorted(folder.glob("*/*.jpg"))
    for images in (paths, [str(path) for path in paths], np.array([str(path) for path in paths])):
        found = labelled(images, ["bars", "disc", "disc"])
        assert found.file_names == ["bars/0.jpg", "disc/0.jpg", "disc/1.jpg"]
    arrays = np.zeros((3, 8, 8), np.uint8)
    assert labelled(arrays, [0, 1, 1]).names() is None
    assert labelled([*paths[:2], arrays[0]], [0, 1, 1]).names() is None


def test_names_are_relative_to_what_all_share(tmp_path):
    assert relative_names([]) == []
    assert relative_names([tmp_path / "a.jpg"]) == ["a.jpg"]
    assert relative_names([tmp_path / "a.jpg", tmp_path / "b" / "c.jpg"]) == ["a.jpg", "b/c.jpg"]


def test_a_single_image_and_a_folder_are_queries(folder):
    path = folder / "disc" / "0.jpg"
    assert queries(path) == [path]
    assert queries(str(path)) == [path]
    picture = Image.new("L", (8, 8))
    assert queries(picture) == [picture]
    found = queries(folder)
    assert [isinstance(file, ImageFile) for file in found] == [True] * 3
    empty = folder / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="has no images"):
        queries(empty)
