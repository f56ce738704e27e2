"""Any image file becomes one array, or an error that names it."""

import os
import struct
import zlib

import numpy as np
import pytest
from helpers_images import encode, halves

from samovar.data.images.conversion import Conversion
from samovar.data.images.decode import AT_ONCE, LARGEST_FILE, decode, decode_all, read_file
from samovar.errors import DataError

RGB = Conversion(8)


GREY = Conversion(8, "grey")


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "BMP", "GIF", "TIFF", "JPEG"])
def test_formats(kind):
    options = (
        {"quality": 100, "subsampling": 0}
        if kind == "JPEG"
        else {"lossless": True}
        if kind == "WEBP"
        else {}
    )
    array = decode(encode(halves("RGB", (255, 0, 0), (0, 0, 255)), kind, **options), "x", RGB)
    assert array.shape == (8, 8, 3)
    np.testing.assert_allclose(array[4, [0, 7]], [[255, 0, 0], [0, 0, 255]], atol=8)


def bomb(width: int, height: int) -> bytes:
    """A PNG that claims a size in its header and has next to no data."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 99))
        + chunk(b"IEND", b"")
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
    np.testing.assert_array_equal(
        decode_all(files(broken=-1), GREY)[:, 0, 0, 0], np.arange(3 * AT_ONCE)
    )


def test_files_too_large_are_not_read(tmp_path):
    with (tmp_path / "huge.png").open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(DataError, match=r"huge.png has 268,435,457 bytes"):
        read_file(tmp_path / "huge.png")
    with pytest.raises(DataError, match="cannot be read"):
        read_file(tmp_path / "missing.png")
