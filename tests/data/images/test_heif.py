"""HEIC files are read where pillow-heif is installed; otherwise the message names the extra."""

import io
import sys

import numpy as np
import pytest

from samovar.data.images.conversion import Conversion
from samovar.data.images.decode import decode
from samovar.data.images.heif import formats_of, is_heif
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
