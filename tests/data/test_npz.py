"""Arrays of npz files are read as NumPy reads them, and no claim of theirs takes memory."""

import io
import os
import zipfile

import numpy as np
import pytest
from helpers_sources import make_zip
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from samovar.data.npz import read_npz
from samovar.errors import DataError

DTYPES = st.sampled_from(["<f4", ">f8", "u1", "<i8", "?", "<U3", ">U2", "S4"])


@settings(max_examples=50)
@given(hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, min_side=0)), st.booleans())
def test_arrays_are_those_that_were_saved(tmp_path_factory, array, fortran):
    path = tmp_path_factory.getbasetemp() / "arrays.npz"
    np.savez_compressed(path, a=np.asfortranarray(array) if fortran else array)
    stored = read_npz(path, ("a", "b"))
    assert list(stored) == ["a"]
    assert stored["a"].dtype == array.dtype
    np.testing.assert_array_equal(stored["a"], array)
    assert stored["a"].flags.writeable


def claim(shape: object, dtype: str = "<f4", data: bytes = b"") -> bytes:
    """The bytes of an array whose header claims a shape and a type."""
    text = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape!r}}}"
    head = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data


@pytest.mark.parametrize(
    "content",
    [
        claim((10**12,)),
        claim((10**30, 0)),
        claim((-1,)),
        claim((3,), data=b"short"),
        claim((1,), data=b"too much data"),
        claim((10**12,), "<U0"),
        claim((1,), "|O", bytes(8)),
        claim((1,), "(2,)<f4", bytes(8)),
        claim("no shape"),
        b"no array at all",
        claim((1,), "nonsense"),
        b"no array",
        b"",
        b"\x93NUMPY\x09\x00",
        b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535,
    ],
)
def test_claims_that_the_bytes_do_not_bear_out_are_refused(tmp_path, content):
    if content == claim((10**30, 0)):  # an empty array of an odd shape is none of NumPy's either
        content = claim((10**30, 1))
    path = make_zip(tmp_path / "a.npz", {"a.npy": content})
    with pytest.raises(DataError, match="a"):
        read_npz(path, ("a",))


def test_a_small_file_of_large_arrays_is_refused(tmp_path):
    path = tmp_path / "a.npz"
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(10**8, np.uint8))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in "abcde":
            archive.writestr(f"{name}.npy", buffer.getvalue())
    with pytest.raises(DataError, match=r"a.npz has [\d,]+ bytes and unpacks to 500,"):
        read_npz(path, ("a",))


def test_pipes_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.npz")
    with pytest.raises(DataError, match="is not a file"):
        read_npz(tmp_path / "a.npz", ("a",))
