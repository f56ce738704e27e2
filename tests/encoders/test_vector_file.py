"""The file of vectors is written whole, and says which encoder made it."""

from dataclasses import replace

import numpy as np
import pytest

from samovar.data.images.pictures import ImageFile
from samovar.encoders.image_list import ListedImage
from samovar.encoders.vector_file import (
    SkippedImage,
    VectorFileFacts,
    read_facts,
    write_vectors,
)
from samovar.errors import OutputError

FACTS = VectorFileFacts({"name": "tiny", "length": 2}, "abc", (SkippedImage("x.png", "broken"),))
IMAGES = [ListedImage(f"{label}/1.png", label, ImageFile("", bytes), "") for label in "aab"]
CHUNKS = [np.ones((2, 2), np.float32), np.full((1, 2), 70_000.0, np.float32)]


def test_arrays_and_facts_are_read_back(tmp_path):
    path = tmp_path / "vectors.npz"
    write_vectors(path, CHUNKS, IMAGES, FACTS)
    with np.load(path, allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["features"], np.concatenate(CHUNKS))
        assert arrays["labels"].tolist() == ["a", "a", "b"]
        assert arrays["paths"].tolist() == ["a/1.png", "a/1.png", "b/1.png"]
    assert read_facts(path) == (FACTS, ["a", "a", "b"])


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "vectors.npz"
    path.write_bytes(b"old")
    with pytest.raises(OutputError, match="too large for float16"):
        write_vectors(path, CHUNKS, IMAGES, FACTS, "float16")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["vectors.npz"]


def test_other_files_say_nothing(tmp_path):
    assert read_facts(tmp_path / "missing.npz") is None
    np.savez(tmp_path / "other.npz", features=np.zeros(3))
    assert read_facts(tmp_path / "other.npz") is None


@pytest.mark.parametrize("text", ["{", "[]", '{"inputs": 3, "skipped": []}', "[" * 10_000])
def test_facts_of_other_contents_say_nothing(tmp_path, text):
    np.savez(tmp_path / "other.npz", labels=np.array(["ant"]), encoder=np.array(text))
    assert read_facts(tmp_path / "other.npz") is None


def test_a_split_is_written_where_there_is_one(tmp_path):
    path = tmp_path / "vectors.npz"
    write_vectors(path, CHUNKS, IMAGES, FACTS)
    assert "split" not in np.load(path)
    images = [replace(image, split="val") for image in IMAGES]
    write_vectors(path, CHUNKS, images, FACTS)
    assert np.load(path)["split"].tolist() == ["val"] * 3
