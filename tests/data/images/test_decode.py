"""Any image file becomes one array, or an error that names it."""

import os
import struct
import threading
import zlib

import numpy as np
import pytest
from helpers_images import encode, halves
from PIL import Image

from samovar.data.images.conversion import Conversion
from samovar.data.images.decode import (
    AT_ONCE,
    BYTES_AT_ONCE,
    LARGEST_FILE,
    MOST_SCANS,
    decode,
    decode_all,
    decoding,
    read_file,
)
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


def test_large_files_are_held_one_at_a_time():
    """A few kilobytes of sparse files can have gigabytes."""
    held = []

    def files():
        for number in range(3):
            held.append(number)
            yield f"{number}.png", bytes(BYTES_AT_ONCE + 1)

    with pytest.raises(DataError, match=r"0\.png is not an image"):
        decode_all(files(), GREY)
    assert held == [0]


def test_a_jpeg_of_thousands_of_scans_is_refused():
    content = encode(halves("RGB", "red", "blue"), "JPEG", progressive=True)
    last = content[content.rindex(b"\xff\xda") : -2]
    bomb = content[:-2] + last * MOST_SCANS + content[-2:]
    with pytest.raises(DataError, match=r"photo.jpg is a JPEG with 1\d\d scans; at most 100"):
        decode(bomb, "photo.jpg", RGB)


def test_threads_together_hold_no_more_pixels_than_the_largest_image():
    large = Image.new("1", (8000, 8000))
    together = []
    inside = threading.Semaphore(0)

    def decode_one() -> None:
        with decoding(large):
            together.append(1)
            inside.release()

    with decoding(large):
        thread = threading.Thread(target=decode_one)
        thread.start()
        with decoding(Image.new("1", (100, 100))):  # a small one finds room beside it
            assert together == []
    thread.join()
    assert together == [1]
