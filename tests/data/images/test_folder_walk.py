"""Images are found at any depth, links stay inside, and loops end."""

import os
import sys

import pytest
from helpers_images import encode, glyph

from samovar.data.images.folder_walk import begins_like_image, is_image_file, walk_images
from samovar.errors import DataError

PNG = encode(glyph(1), "PNG")


def names(root, **options):
    return [path.relative_to(root).as_posix() for path in walk_images(root, **options).paths]


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    for name in ("b/2.png", "b/deep/er/1.png", "a.png", "c/.hidden/3.png", "__MACOSX/._a.png"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(PNG)
    return folder


def test_images_are_found_at_any_depth_in_order(root):
    assert names(root) == ["a.png", "b/2.png", "b/deep/er/1.png"]
    assert names(root, deep=False) == ["a.png"]
    assert "2 hidden folders" in str(walk_images(root).left_out)


def test_files_without_an_extension_go_by_their_beginning(root):
    (root / "photo").write_bytes(PNG)
    (root / "README").write_text("Dear reader")
    found = walk_images(root, deep=False)
    assert [path.name for path in found.paths] == ["a.png", "photo"]
    assert "1 file without an extension" in str(found.left_out)
    for kind in ("JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP"):
        assert begins_like_image(encode(glyph(2), kind)), kind
    assert not begins_like_image(b"")


def test_pipes_are_not_waited_for(root):
    os.mkfifo(root / "pipe")
    os.mkfifo(root / "pipe.png")
    assert not is_image_file(root / "pipe")
    assert names(root, deep=False) == ["a.png"]


def test_links_out_are_refused_unless_allowed_and_loops_end(root, tmp_path):
    (root / "b" / "up").symlink_to(root)
    assert names(root) == ["a.png", "b/2.png", "b/deep/er/1.png"]
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "far.png").write_bytes(PNG)
    (outside / "back").symlink_to(root)
    (root / "out").symlink_to(outside)
    with pytest.raises(DataError, match="out is a link to a place outside"):
        walk_images(root)
    found = walk_images(root, follow_links=True)
    assert root / "out" / "far.png" in found.paths
    assert "2 links to a folder that was searched already" in str(found.left_out)


def test_a_place_is_visited_once_however_many_links_lead_there(root):
    for number in range(30):
        (root / f"d{number}").mkdir()
    for number in range(29):
        for name in ("left", "right"):  # 2 ** 29 ways lead to the last folder
            (root / f"d{number}" / name).symlink_to(root / f"d{number + 1}")
    (root / "d29" / "last.png").write_bytes(PNG)
    assert names(root) == ["a.png", "b/2.png", "b/deep/er/1.png", "d29/last.png"]


def test_heic_that_cannot_be_read_is_left_out_but_not_a_jpeg_of_that_name(root, monkeypatch):
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    (root / "real.heic").write_bytes(bytes(4) + b"ftypheic" + bytes(20))
    (root / "false.HEIC").write_bytes(encode(glyph(1), "JPEG"))
    found = walk_images(root, deep=False)
    assert [path.name for path in found.paths] == ["a.png", "false.HEIC"]
    assert "1 .heic image (pip install 'samovar[heic]')" in str(found.left_out)
