"""Any image is turned, cropped and scaled to one array of eight bits."""

import io
import struct

import numpy as np
import pytest
from helpers_images import encode, halves
from PIL import Image, ImageOps

from samovar.data.images.conversion import Conversion
from samovar.data.images.decode import decode

RGB = Conversion(8)


GREY = Conversion(8, "grey")


def test_rotation_by_exif():
    exif = Image.Exif()
    exif[0x0112] = 3  # upside down
    content = encode(halves("RGB", "white", "black"), "JPEG", exif=exif, quality=100)
    array = decode(content, "x", GREY)
    assert array[4, 0, 0] < 20
    assert array[4, 7, 0] > 235


@pytest.mark.parametrize(
    ("image", "left", "right"),
    [
        (halves("RGBA", (255, 0, 0, 255), (255, 0, 0, 0)), (255, 0, 0), (255, 255, 255)),
        (halves("LA", (0, 255), (0, 0)), (0, 0, 0), (255, 255, 255)),
        (halves("P", 0, 1), None, None),
        (halves("1", 0, 1), (0, 0, 0), (255, 255, 255)),
    ],
)
def test_transparency_is_on_white_and_palettes_are_resolved(image, left, right):
    if image.mode == "P":
        image.putpalette([10, 20, 30, 200, 210, 220])
        left, right = (10, 20, 30), (200, 210, 220)
    array = decode(encode(image, "PNG"), "x", RGB)
    assert tuple(array[4, 0]) == left
    assert tuple(array[4, 7]) == right


def test_palette_with_a_transparent_colour():
    image = halves("P", 0, 1)
    image.putpalette([10, 20, 30, 200, 210, 220])
    array = decode(encode(image, "GIF", transparency=1), "x", RGB)
    assert tuple(array[4, 0]) == (10, 20, 30)
    assert tuple(array[4, 7]) == (255, 255, 255)


def test_cmyk_and_sixteen_bits():
    cmyk = decode(encode(halves("CMYK", (0, 0, 0, 0), (0, 0, 0, 255)), "TIFF"), "x", GREY)
    assert cmyk[4, 0, 0] > 250
    assert cmyk[4, 7, 0] < 5
    sixteen = Image.fromarray(
        np.tile(np.array([0, 257 * 100, 257 * 200, 65535], np.uint16).repeat(2), (8, 1))
    )
    for kind in ("PNG", "TIFF"):
        np.testing.assert_array_equal(
            decode(encode(sixteen, kind), "x", GREY)[0, ::2, 0], [0, 100, 200, 255]
        )


@pytest.mark.parametrize(
    ("mode", "kind", "values", "expected"),
    [
        (
            "I;16B",
            "<u2",
            [0, 100, 200, 255],
            [0, 0, 1, 1],
        ),  # dark, but of sixteen bits all the same
        ("I", "<i4", [0, 100, 200, 255], [0, 100, 200, 255]),
        ("I", "<i4", [0, 257 * 100, 257 * 200, 65535], [0, 100, 200, 255]),
        ("I", "<i4", [0, 2**24, 2**30, 2**31 - 1], [0, 1, 64, 127]),
        ("F", "<f4", [0, 0.25, 0.5, 1], [0, 64, 128, 255]),
    ],
)
def test_grey_values_of_more_than_eight_bits_are_scaled_and_not_clipped(
    mode, kind, values, expected
):
    pixels = np.tile(np.array(values, kind).repeat(2), (8, 1))
    image = (
        Image.fromarray(pixels)
        if mode != "I;16B"
        else Image.frombytes(mode, (8, 8), pixels.astype(">u2").tobytes())
    )
    np.testing.assert_array_equal(decode(encode(image, "TIFF"), "x", GREY)[0, ::2, 0], expected)


def test_central_square_crop_and_inversion():
    wide = Image.new("L", (30, 10), 0)
    wide.paste(255, (10, 0, 20, 10))
    np.testing.assert_array_equal(decode(encode(wide, "PNG"), "x", GREY), 255)
    np.testing.assert_array_equal(
        decode(encode(wide, "PNG"), "x", Conversion(8, "grey", inverted=True)), 0
    )


def test_odd_exif_entries_do_not_matter():
    """Real photographs have them; Pillow's own function writes the block again and fails."""
    exif = Image.Exif()
    exif[0x0112], exif[0x0100] = (
        3,
        7,
    )  # upside down; a width, whose type is changed from number to text below
    content = encode(halves("RGB", "white", "black"), "JPEG", exif=exif, quality=100)
    odd = content.replace(b"\x01\x00\x00\x04\x00\x00\x00\x01", b"\x01\x00\x00\x02\x00\x00\x00\x01")
    with pytest.raises(struct.error):
        ImageOps.exif_transpose(Image.open(io.BytesIO(odd)))
    np.testing.assert_array_equal(decode(odd, "holiday.jpg", GREY), decode(content, "x", GREY))
    assert decode(odd, "holiday.jpg", GREY)[4, 0, 0] < 20


@pytest.mark.parametrize("value", range(1, 9))
def test_every_orientation_is_that_of_pillow(value):
    exif = Image.Exif()
    exif[0x0112] = value
    pixels = np.random.default_rng(0).integers(0, 256, (8, 8, 3), np.uint8)
    content = encode(Image.fromarray(pixels), "PNG", exif=exif)
    expected = ImageOps.exif_transpose(Image.open(io.BytesIO(content)))
    np.testing.assert_array_equal(decode(content, "x", RGB), np.asarray(expected))
