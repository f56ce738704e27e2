"""Folders, archives and lists give the same images; shards are parts that follow one another."""

import itertools
import zipfile
from dataclasses import replace

import pytest
from helpers_encoders import photo_folder, picture
from hypothesis import given
from hypothesis import strategies as st

from samovar.data.archive import Zip
from samovar.encoders.image_list import (
    all_images,
    fingerprint_images,
    labelled_archive,
    labelled_images,
    list_images,
    shard_of,
)
from samovar.errors import DataError, SettingsError


@pytest.fixture
def folder(tmp_path):
    return photo_folder(tmp_path / "photos")


def make_zip(folder, path):
    with zipfile.ZipFile(path, "w") as archive:
        for image in sorted(folder.rglob("*.png")):
            archive.write(image, image.relative_to(folder.parent).as_posix())
        archive.writestr("__MACOSX/photos/class 0/._0.png", b"not an image")
        archive.writestr("photos/readme.txt", b"not an image either")
    return path


def names_and_labels(images):
    return [(image.name.rsplit("/", 2)[-2:], image.label) for image in images]


def test_class_folders_give_labels(folder):
    images = list_images(folder)
    assert len(images) == 12
    assert images[0].name == "class 0/0.png"
    assert {image.label for image in images} == {"class 0", "class 1", "class 2"}


def test_a_zip_of_class_folders_has_the_same_images(folder, tmp_path):
    from_zip = list_images(make_zip(folder, tmp_path / "photos.zip"))
    from_folder = list_images(folder)
    assert names_and_labels(from_zip) == names_and_labels(from_folder)
    for first, second in zip(from_zip, from_folder, strict=True):
        assert first.file.read() == second.file.read()


def test_a_list_of_paths_has_the_same_images(folder, tmp_path):
    paths = sorted(path.relative_to(tmp_path) for path in folder.rglob("*.png"))
    listing = tmp_path / "list.txt"
    listing.write_text("\n".join(map(str, paths)) + "\n\n")
    images = list_images(listing)
    assert names_and_labels(images) == names_and_labels(list_images(folder))
    assert images[3].file.read() == (tmp_path / paths[3]).read_bytes()


def test_a_list_may_have_labels(folder, tmp_path):
    listing = tmp_path / "list.txt"
    listing.write_text(f"{folder}/class 0/0.png\tcat\nmissing.png\tdog\n")
    images = list_images(listing)
    assert [image.label for image in images] == ["cat", "dog"]
    with pytest.raises(DataError, match=r"missing\.png"):
        images[1].file.read()


def test_a_plain_folder_has_no_labels(folder):
    images = list_images(folder / "class 1")
    assert [image.label for image in images] == [""] * 4


def test_class_folders_may_be_inside_train_and_test(tmp_path):
    photo_folder(tmp_path / "all" / "train", 2, 1)
    photo_folder(tmp_path / "all" / "test", 1, 2)
    images = list_images(tmp_path / "all")
    assert [image.name for image in images][-1] == "test/class 0/1.png"
    assert [image.label for image in images] == ["class 0", "class 1", "class 0", "class 0"]


def test_images_beside_class_folders_are_refused(folder):
    picture(0).save(folder / "loose.png")
    with pytest.raises(DataError, match="beside class folders"):
        list_images(folder)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00binary", b"GIF89a\0\0"])
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "other.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"other\.txt"):
        list_images(path)


def test_a_missing_or_empty_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match="no folder or file"):
        list_images(tmp_path / "missing")
    with pytest.raises(DataError, match="has no images"):
        list_images(tmp_path)


def test_a_zip_that_points_outside_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr("../../evil.png", b"")
    with pytest.raises(DataError, match="points outside"):
        list_images(tmp_path / "evil.zip")


def test_the_fingerprint_notices_a_changed_image(folder):
    before = fingerprint_images(list_images(folder))
    assert fingerprint_images(list_images(folder)) == before
    picture(99, (50, 50)).save(folder / "class 1" / "2.png")
    assert fingerprint_images(list_images(folder)) != before


@given(images=st.integers(0, 40), count=st.integers(1, 9))
def test_shards_joined_in_order_are_the_whole(images, count):
    items = list(range(images))
    parts = [shard_of(items, f"{number}/{count}") for number in range(1, count + 1)]
    assert list(itertools.chain(*parts)) == items
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("shard", ["0/4", "5/4", "1", "a/b", "1/0", "-1/4", "", "1/4/2"])
def test_other_shards_are_refused(shard):
    with pytest.raises(SettingsError, match="i/n"):
        shard_of([], shard)


def draw_split(root, classes):
    for place in classes:
        (root / place).mkdir(parents=True)
        picture(len(place)).save(root / place / "0.png")
    return root


def test_class_folders_in_train_val_and_test_make_a_split(tmp_path):
    root = draw_split(tmp_path / "photos", ["train/cat", "train/dog", "val/owl", "test/elk"])
    expected = {"cat": "train", "dog": "train", "owl": "val", "elk": "test"}
    for images in (list_images(root), list_images(make_zip(root, tmp_path / "photos.zip"))):
        assert {image.label: image.split for image in images} == expected
    unsplit = [replace(image, split="") for image in list_images(root)]
    assert fingerprint_images(unsplit) != fingerprint_images(list_images(root))


@pytest.mark.parametrize(
    "classes",
    [
        ["train/cat", "train/dog", "test/cat", "test/dog"],  # all classes are known in training
        ["train/cat", "train/dog"],
        ["train", "test", "owl"],  # classes of these names
    ],
)
def test_other_folders_make_no_split(tmp_path, classes):
    images = list_images(draw_split(tmp_path / "photos", classes))
    assert {image.split for image in images} == {""}


def test_an_open_archive_has_the_same_labelled_images(folder, tmp_path):
    path = make_zip(folder, tmp_path / "photos.zip")
    from_path = labelled_images(path).images
    from_archive = labelled_archive(Zip(path)).images
    assert [(image.name, image.label) for image in from_archive] == [
        (image.name, image.label) for image in from_path
    ]
    assert from_archive[0].file.read() == from_path[0].file.read()


def test_labelled_images_leave_out_what_has_no_label(folder, tmp_path):
    picture(0).save(folder / "loose.png")
    found = labelled_images(folder)
    assert len(found.images) == 12
    assert str(found.left_out) == "1 image beside the class folders"
    (tmp_path / "one").mkdir()
    (folder / "class 1").rename(tmp_path / "one" / "cat")
    assert {image.label for image in labelled_images(tmp_path / "one").images} == {"cat"}
    make_zip(tmp_path / "one", tmp_path / "one.zip")
    assert {image.label for image in labelled_images(tmp_path / "one.zip").images} == {"cat"}


@pytest.mark.parametrize("kind", ["folder", "list", "split"])
def test_without_labels_the_message_says_how_to_give_them(kind, folder, tmp_path):
    root = folder / "class 1"
    words = "has no class folders"
    if kind == "list":
        root = tmp_path / "list.txt"
        root.write_text("a.png\nb.png\n")
        words = "write a tab and a label"
    if kind == "split":
        root = draw_split(tmp_path / "split", ["train/cat", "test/dog"])
        words = "are in train, test. Name one of these folders"
    with pytest.raises(DataError, match=words):
        labelled_images(root)


def test_all_images_searches_folders_of_folders(folder):
    assert len(all_images(folder)[0].images) == 12
    assert all_images(folder)[1] == 0
    picture(0).save(folder / "loose.png")
    found, unsearched = all_images(folder)
    assert ([image.name for image in found.images], unsearched) == (["loose.png"], 3)
    found, unsearched = all_images(folder, recursive=True)
    assert (len(found.images), unsearched) == (13, 0)
