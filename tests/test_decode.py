"""Any image file becomes one array, or an error that names it."""

import io
import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image, ImageOps

from samovar.data.decode import AT_ONCE, LARGEST_FILE, Conversion, decode, decode_all, read_file
from samovar.errors import DataError

RGB = Conversion(8)
GREY = Conversion(8, "grey")


def encode(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def halves(mode: str, left: object, right: object, size: tuple[int, int] = (16, 16)) -> Image.Image:
    image = Image.new(mode, size, left)
    image.paste(right, (size[0] // 2, 0, *size))
    return image


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "BMP", "GIF", "TIFF", "JPEG"])
def test_formats(kind):
    options = {"quality": 100, "subsampling": 0} if kind == "JPEG" else {"lossless": True} if kind == "WEBP" else {}
    array = decode(encode(halves("RGB", (255, 0, 0), (0, 0, 255)), kind, **options), "x", RGB)
    assert array.shape == (8, 8, 3)
    np.testing.assert_allclose(array[4, [0, 7]], [[255, 0, 0], [0, 0, 255]], atol=8)


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
    sixteen = Image.fromarray(np.tile(np.array([0, 257 * 100, 257 * 200, 65535], np.uint16).repeat(2), (8, 1)))
    for kind in ("PNG", "TIFF"):
        np.testing.assert_array_equal(decode(encode(sixteen, kind), "x", GREY)[0, ::2, 0], [0, 100, 200, 255])


@pytest.mark.parametrize(
    ("mode", "kind", "values", "expected"),
    [
        ("I;16B", "<u2", [0, 100, 200, 255], [0, 0, 1, 1]),  # dark, but of sixteen bits all the same
        ("I", "<i4", [0, 100, 200, 255], [0, 100, 200, 255]),
        ("I", "<i4", [0, 257 * 100, 257 * 200, 65535], [0, 100, 200, 255]),
        ("I", "<i4", [0, 2**24, 2**30, 2**31 - 1], [0, 1, 64, 127]),
        ("F", "<f4", [0, 0.25, 0.5, 1], [0, 64, 128, 255]),
    ],
)
def test_grey_values_of_more_than_eight_bits_are_scaled_and_not_clipped(mode, kind, values, expected):
    pixels = np.tile(np.array(values, kind).repeat(2), (8, 1))
    image = (
        Image.fromarray(pixels) if mode != "I;16B" else Image.frombytes(mode, (8, 8), pixels.astype(">u2").tobytes())
    )
    np.testing.assert_array_equal(decode(encode(image, "TIFF"), "x", GREY)[0, ::2, 0], expected)


def test_central_square_crop_and_inversion():
    wide = Image.new("L", (30, 10), 0)
    wide.paste(255, (10, 0, 20, 10))
    np.testing.assert_array_equal(decode(encode(wide, "PNG"), "x", GREY), 255)
    np.testing.assert_array_equal(decode(encode(wide, "PNG"), "x", Conversion(8, "grey", inverted=True)), 0)


def bomb(width: int, height: int) -> bytes:
    """A PNG that claims a size in its header and has next to no data."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"just text", "not an image"),
        (b"", "not an image"),
        (encode(halves("RGB", "red", "blue"), "PNG")[:-40], "not an image"),
        (encode(halves("RGB", "red", "blue", (200, 200)), "JPEG")[:300], "not an image"),
        (bomb(50_000, 50_000), "too many pixels"),
        (bomb(11_000, 11_000), "too many pixels"),
        (bomb(9_000, 9_000), "too many pixels"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n", "not an image"),
    ],
)
def test_bad_files_are_named(content, words):
    with pytest.raises(DataError, match=rf"photo.jpg .*({words})"):
        decode(content, "photo.jpg", RGB)


def test_odd_exif_entries_do_not_matter():
    """Real photographs have them; Pillow's own way of turning writes the whole block again and stumbles over them."""
    exif = Image.Exif()
    exif[0x0112], exif[0x0100] = 3, 7  # upside down; a width, whose type is changed from number to text below
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


def test_pipes_and_devices_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "endless.png").symlink_to("/dev/zero")
    for name in ("pipe.png", "endless.png"):
        with pytest.raises(DataError, match=f"{name} is not a file"):
            read_file(tmp_path / name)


def test_few_files_are_held_at_once():
    taken = []

    def files(broken: int):
        for number in range(3 * AT_ONCE):
            taken.append(number)
            yield str(number), b"" if number == broken else encode(halves("L", number, 0), "PNG")

    with pytest.raises(DataError, match="5 is not an image"):
        decode_all(files(broken=5), GREY)
    assert len(taken) <= AT_ONCE
    np.testing.assert_array_equal(decode_all(files(broken=-1), GREY)[:, 0, 0, 0], np.arange(3 * AT_ONCE))


def test_files_too_large_are_not_read(tmp_path):
    with (tmp_path / "huge.png").open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(DataError, match=r"huge.png has 268,435,457 bytes"):
        read_file(tmp_path / "huge.png")
    with pytest.raises(DataError, match="cannot be read"):
        read_file(tmp_path / "missing.png")
