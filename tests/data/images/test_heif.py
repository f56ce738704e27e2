"""HEIC and AVIF are read where that is installed; otherwise the message names the extra."""

import io
import sys
from pathlib import PurePath

import numpy as np
import pytest
from helpers_images import encode
from PIL import Image

from samovar.data.images.conversion import Conversion
from samovar.data.images.decode import decode
from samovar.data.images.heif import formats_of, is_avif, is_heif, missing_for, reads_avif
from samovar.errors import DataError

HEADER = bytes(4) + b"ftypheic" + bytes(40)


def test_the_content_decides_not_the_name():
    assert is_heif(HEADER)
    assert not is_heif(b"\x89PNG\r\n\x1a\n")
    assert formats_of(b"\x89PNG", "photo.heic", ("PNG",)) == ("PNG",)


def test_without_the_package_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    with pytest.raises(DataError, match=r"^photo\.heic is a HEIC.*pip install 'samovar\[heic\]'"):
        decode(HEADER, "photo.heic", Conversion(8))


def test_with_the_package_it_is_an_image_like_any_other():
    pillow_heif = pytest.importorskip("pillow_heif", reason="the extra heic is not installed")
    pixels = np.zeros((64, 64, 3), np.uint8)
    pixels[..., 0] = 200
    buffer = io.BytesIO()
    pillow_heif.from_bytes("RGB", (64, 64), pixels.tobytes()).save(buffer, quality=90)
    assert is_heif(buffer.getvalue())
    array = decode(buffer.getvalue(), "photo.heic", Conversion(8))
    assert np.abs(array.astype(int) - [200, 0, 0]).max() < 12
    with pytest.raises(DataError, match=r"photo\.heic.*its HEIC content is damaged"):
        decode(HEADER, "photo.heic", Conversion(8))


def test_avif_is_told_from_heic_by_its_brands():
    avif = (24).to_bytes(4, "big") + b"ftypmif1" + bytes(4) + b"mif1avif"
    assert is_avif(avif)
    assert not is_heif(avif)
    heic = avif.replace(b"avif", b"heic")
    assert is_heif(heic)
    assert not is_avif(heic)


@pytest.mark.skipif(not reads_avif(), reason="this Pillow has no AVIF")
def test_avif_is_an_image_like_any_other():
    content = encode(Image.new("RGB", (64, 64), (200, 0, 0)), "AVIF", quality=90)
    assert is_avif(content)
    array = decode(content, "photo", Conversion(8))
    assert np.abs(array.astype(int) - [200, 0, 0]).max() < 12


def test_what_is_missing_is_named_before_a_file_is_read(monkeypatch):
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    monkeypatch.setattr("samovar.data.images.heif.features.check", lambda _: False)
    for name in ("a.HEIC", "b.heif", "c.avif"):
        assert missing_for(PurePath(name)) == "pip install 'samovar[heic]'"
    assert missing_for(PurePath("d.jpg")) is None
    with pytest.raises(DataError, match=r"photo is an AVIF.*pip install 'samovar\[heic\]'"):
        decode(bytes(4) + b"ftypavif" + bytes(40), "photo", Conversion(8))
