"""Thumbnails are small and tell nothing but what is seen; images are kept only if that is asked."""

import io

from helpers_service import client_of, new_task
from PIL import Image

from samovar.service.pictures import SIDE, NewPicture, Pictures, thumbnail


def photo_with_a_place() -> bytes:
    exif = Image.Exif()
    exif[0x010F] = "Camera Maker"
    exif.get_ifd(0x8825)[2] = (52.0, 30.0, 0.0)
    buffer = io.BytesIO()
    Image.new("RGB", (1200, 800), "teal").save(buffer, "JPEG", exif=exif)
    return buffer.getvalue()


def test_a_thumbnail_is_small_and_has_no_exif():
    content = photo_with_a_place()
    assert b"Camera Maker" in content
    small = thumbnail(content, "a.jpg")
    assert b"Camera Maker" not in small
    with Image.open(io.BytesIO(small)) as image:
        assert max(image.size) == SIDE
        assert not image.getexif()


def test_pictures_of_removed_examples_are_removed(tmp_path):
    pictures = Pictures(tmp_path)
    pictures.add(
        [NewPicture("a" * 16, b"small", lambda: b"whole"), NewPicture("b" * 16, b"x", None)]
    )
    pictures.keep_only({"b" * 16})
    assert pictures.digests() == {"b" * 16}
    assert pictures.thumbnail("a" * 16) is None
    assert pictures.original("a" * 16) is None


def test_images_are_kept_as_they_were_sent_if_asked(tmp_path, photos):
    with client_of(tmp_path, keep_images=True) as client:
        task = new_task(client, photos, 1)
        assert task["keeps_images"]
        for example in task["examples"]:
            path = f"/v1/tasks/{task['id']}/examples/{example['id']}/image"
            answer = client.get(path)
            assert answer.headers["content-type"] == "image/jpeg"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.content == photos[example["label"]][0].read_bytes()


def test_no_image_is_kept_unless_asked(tmp_path, photos):
    with client_of(tmp_path) as client:
        new_task(client, photos, 1)
    sent = {paths[0].read_bytes() for paths in photos.values()}
    kept = {path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert not sent & kept
