"""A chunk is read back as it was written, or not at all."""

import numpy as np

from samovar.encoders.chunk import Chunk, read_chunk


def test_a_chunk_is_read_back(tmp_path):
    features = np.arange(6, dtype=np.float32).reshape(2, 3)
    path = tmp_path / "chunk.npz"
    path.write_bytes(Chunk(features, ["", "is broken", ""]).to_bytes())
    chunk = read_chunk(path, images=3, length=3)
    assert chunk is not None
    np.testing.assert_array_equal(chunk.features, features)
    assert chunk.reasons == ["", "is broken", ""]


def test_a_chunk_that_is_damaged_or_of_other_images_is_not_used(tmp_path):
    features = np.ones((2, 3), np.float32)
    content = Chunk(features, ["", ""]).to_bytes()
    path = tmp_path / "chunk.npz"
    assert read_chunk(path, 2, 3) is None
    path.write_bytes(content)
    assert read_chunk(path, 3, 3) is None
    assert read_chunk(path, 2, 4) is None
    path.write_bytes(content[:-50])
    assert read_chunk(path, 2, 3) is None
    path.write_bytes(content.replace(features.tobytes(), b"\xff" * features.nbytes))
    assert read_chunk(path, 2, 3) is None
