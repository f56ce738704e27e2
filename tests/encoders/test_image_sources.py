"""Folders, archives and lists give images with labels, and count what they leave out."""

import zipfile

import pytest
from helpers_encoders import photo_folder, picture

from samovar.encoders.image_sources import class_parents, listed_paths, read_images
from samovar.errors import DataError


def test_a_folder_of_folders_as_archives_unpack_is_entered(tmp_path):
    photo_folder(tmp_path / "download" / "photos", 2, 1)
    found = read_images(tmp_path / "download", follow_links=False)
    assert [image.label for image in found.images] == ["class 0", "class 1"]
    assert class_parents(tmp_path / "download") == [tmp_path / "download" / "photos"]


def test_one_class_with_folders_inside_stays_one_class(tmp_path):
    photo_folder(tmp_path / "all" / "cat", 2, 1)
    picture(5).save(tmp_path / "all" / "cat" / "5.png")
    found = read_images(tmp_path / "all", follow_links=False)
    assert [image.label for image in found.images] == ["cat"] * 3


def test_an_empty_class_folder_says_what_is_in_it(tmp_path):
    photo_folder(tmp_path / "all", 1, 1)
    (tmp_path / "all" / "rose").mkdir()
    with pytest.raises(DataError, match=r"rose has no images\. Add some"):
        read_images(tmp_path / "all", follow_links=False)
    (tmp_path / "all" / "rose" / "notes.txt").write_text("none")
    with pytest.raises(DataError, match=r"rose has no images that can be read, only 1 \.txt file"):
        read_images(tmp_path / "all", follow_links=False)


def test_archives_count_what_they_leave_out(tmp_path):
    folder = photo_folder(tmp_path / "photos", 2, 1)
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        for path in sorted(folder.rglob("*.png")):
            archive.write(path, f"{path.parent.name}/deep/{path.name}")
        archive.writestr("class 0/.DS_Store", b"")
        archive.writestr("class 0/notes.txt", b"")
    found = read_images(tmp_path / "photos.zip", follow_links=False)
    assert [image.label for image in found.images] == ["class 0", "class 1"]
    assert found.images[0].file.name == f"{tmp_path / 'photos.zip'}/class 0/deep/0.png"
    assert str(found.left_out) == "1 hidden file, 1 .txt file"


def test_lines_are_paths_with_labels(tmp_path):
    images = listed_paths("a/1.png\tcat\n\n b/2.png \t dog \n", tmp_path, "The list")
    assert [(image.name, image.label) for image in images] == [
        ("a/1.png", "cat"),
        ("b/2.png", "dog"),
    ]
    assert images[0].file.name == str(tmp_path / "a" / "1.png")
    with pytest.raises(DataError, match=r"^The list is not a text file"):
        listed_paths("\0", tmp_path, "The list")
