"""Images of every kind become upright RGB pictures of their own size."""

import io

import numpy as np
import pytest
import torch
from helpers_images import encode, halves
from PIL import Image

from samovar.data.images.pictures import ImageFile, as_picture, decode_picture
from samovar.errors import DataError


@pytest.mark.parametrize(
    ("mode", "left", "right"),
    [
        ("RGB", "red", "blue"),
        ("L", 0, 255),
        ("1", 0, 1),
        ("P", 0, 3),
        ("CMYK", (0, 0, 0, 0), (0, 0, 0, 255)),
        ("RGBA", (255, 0, 0, 255), (0, 0, 0, 0)),
        ("I;16", 0, 65535),
        ("F", 0.0, 1.0),
    ],
)
def test_every_mode_becomes_rgb(mode, left, right):
    picture = as_picture(halves(mode, left, right), 0)
    assert picture.mode == "RGB"
    assert picture.size == (16, 16)


def test_sixteen_bits_are_scaled_and_transparency_is_white():
    grey = decode_picture(encode(halves("I;16", 0, 65535), "PNG"), "grey.png")
    assert np.asarray(grey)[0, :, 0].tolist() == [0] * 8 + [255] * 8
    clear = decode_picture(encode(Image.new("RGBA", (4, 4), (0, 0, 0, 0)), "PNG"), "clear.png")
    assert np.asarray(clear).min() == 255


def test_a_turned_jpeg_is_upright_at_reduced_scale_too():
    exif = Image.Exif()
    exif[0x0112] = 6
    content = encode(halves("RGB", "red", "blue", (800, 400)), "JPEG", exif=exif)
    picture = decode_picture(content, "turned.jpg", 100)
    assert picture.size == (100, 200)
    red, _, blue = np.asarray(picture).transpose(2, 0, 1)
    assert red[:90].min() > 200
    assert blue[110:].min() > 200


def test_reduced_scale_keeps_the_pixels_asked_for():
    content = encode(Image.new("RGB", (1000, 700)), "JPEG")
    assert decode_picture(content, "a.jpg", 350).size == (500, 350)
    assert decode_picture(content, "a.jpg", 351).size == (1000, 700)
    assert decode_picture(content, "a.jpg").size == (1000, 700)


def test_arrays_and_tensors_are_pictures():
    pixels = np.zeros((5, 7, 3), np.uint8)
    assert as_picture(pixels, 0).size == (7, 5)
    assert as_picture(torch.zeros(3, 5, 7), 0).size == (7, 5)
    with pytest.raises(DataError, match="Image 4"):
        as_picture(np.zeros((5, 7, 9)), 4)


def test_a_damaged_pil_image_is_named_by_its_position():
    content = encode(Image.new("RGB", (300, 300), "red"), "PNG")
    broken = Image.open(io.BytesIO(content[: len(content) // 2]))
    with pytest.raises(DataError, match="Image 2 cannot be read"):
        as_picture(broken, 2)


def test_files_are_read_when_asked(tmp_path):
    file = ImageFile.at(tmp_path / "later.png")
    with pytest.raises(DataError, match=r"later\.png"):
        file.read()
    Image.new("RGB", (2, 2)).save(tmp_path / "later.png")
    assert decode_picture(file.read(), file.name).size == (2, 2)


def test_a_bomb_is_refused():
    bomb = encode(Image.new("1", (20_000, 20_000)), "PNG")
    with pytest.raises(DataError, match=r"bomb\.png has too many pixels"):
        decode_picture(bomb, "bomb.png", 512)
