"""Images that were written down are those that were found."""

import pytest
from helpers_encoders import photo_folder

from samovar.encoders.image_list import fingerprint_images, list_images
from samovar.encoders.listing import read_listing, write_listing
from samovar.errors import DataError


def test_what_was_written_down_is_what_was_found(tmp_path):
    folder = photo_folder(tmp_path / "train", classes=2, images=3)
    (folder / "class 0" / "0.png").rename(folder / "class 0" / "not text \udcff.png")
    images = list_images(tmp_path / "train")
    write_listing(tmp_path / "listing.json", images)
    again = read_listing(tmp_path / "listing.json", tmp_path / "train")
    assert [image.file.name for image in again] == [image.file.name for image in images]
    assert [image.file.read() for image in again] == [image.file.read() for image in images]
    assert fingerprint_images(again) == fingerprint_images(images)


@pytest.mark.parametrize("content", ["", "[]", '{"images": [["a"]]}', '{"images": 3}'])
def test_a_damaged_listing_is_refused(content, tmp_path):
    (tmp_path / "listing.json").write_text(content)
    with pytest.raises(DataError, match=r"listing\.json"):
        read_listing(tmp_path / "listing.json", tmp_path)
    with pytest.raises(DataError, match=r"none\.json"):
        read_listing(tmp_path / "none.json", tmp_path)
