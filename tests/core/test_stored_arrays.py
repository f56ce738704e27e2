"""Arrays are read from npz and npy files, or refused before they fill the memory."""

import io
import zipfile

import numpy as np
import pytest

from samovar.core import stored_arrays
from samovar.core.stored_arrays import map_array, read_arrays
from samovar.errors import UnreadableError


def header(shape: tuple[int, ...], descr: str = "<f4") -> bytes:
    buffer = io.BytesIO()
    fields = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, fields)
    return buffer.getvalue()


def archive(path, content: bytes):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.npy", content)
    return path


def test_the_named_arrays_are_read(tmp_path):
    values = np.arange(6.0).reshape(2, 3)
    np.savez_compressed(tmp_path / "a.npz", values=values, names=np.array(["ü", "x"]), other=3)
    arrays = read_arrays(tmp_path / "a.npz", ["values", "names", "missing"])
    assert arrays.keys() == {"values", "names"}
    np.testing.assert_array_equal(arrays["values"], values)
    assert arrays["names"].tolist() == ["ü", "x"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "EOF"),
        (b"just bytes", "magic"),
        (header((10**12,)), "claims to be larger than it is"),
        (header((0, 10**30)), "too large|maximum|int"),
        (header((3, 4))[:-20], "EOF|header"),
        (header((2,)) + b"abcd", "EOF"),
        (header((2,), "|O") + b"x" * 16, "allow_pickle|Object"),
    ],
)
def test_damaged_and_huge_arrays_are_refused(tmp_path, content, words):
    with pytest.raises(UnreadableError, match=words):
        read_arrays(archive(tmp_path / "a.npz", content), ["a"])


def test_an_array_that_would_be_unpacked_to_many_times_its_size_is_refused(tmp_path, monkeypatch):
    path = archive(tmp_path / "a.npz", header((250_000,)) + bytes(1_000_000))
    assert read_arrays(path, ["a"])["a"].shape == (250_000,), "a small one is harmless"
    monkeypatch.setattr(stored_arrays, "FREE_BYTES", 10_000)
    with pytest.raises(UnreadableError, match=r"a would be unpacked from [\d,]+ to 1,000,000 bytes"):
        read_arrays(path, ["a"])


@pytest.mark.parametrize("code", [0x110000, 0xFFFFFFFF, 0xD800])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_text_that_is_not_text_is_refused(tmp_path, code, shape):
    text = np.full(shape or (1,), code, np.uint32).view("U1").reshape(shape)
    np.savez(tmp_path / "a.npz", a=text)
    with pytest.raises(UnreadableError, match="invalid characters"):
        read_arrays(tmp_path / "a.npz", ["a"])
    np.save(tmp_path / "a.npy", text)
    with pytest.raises(UnreadableError, match="invalid characters"):
        map_array(tmp_path / "a.npy")


def test_files_that_are_not_npz_or_npy_are_refused(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"PK no zip")
    with pytest.raises(UnreadableError):
        read_arrays(tmp_path / "a.npz", ["a"])
    np.savez(tmp_path / "b.npz", a=np.zeros(2))
    (tmp_path / "b.npz").rename(tmp_path / "b.npy")
    with pytest.raises(UnreadableError, match="not an npy file"):
        map_array(tmp_path / "b.npy")
    (tmp_path / "c.npy").write_bytes(b"\x93NUMPY\x01\x00\x0a\x00" + b"(" * 10)
    with pytest.raises(UnreadableError):
        map_array(tmp_path / "c.npy")
    np.save(tmp_path / "d.npy", np.arange(4))
    assert map_array(tmp_path / "d.npy").tolist() == [0, 1, 2, 3]
