"""Tasks of vectors are a function of their key, and support, queries and outsiders are disjoint."""

from pathlib import Path

import numpy as np
import pytest
import torch

from samovar.data.collections import VectorCollection
from samovar.errors import DataError


def write(path: Path, counts: list[int], dim: int = 4) -> Path:
    """Write vectors whose first number is their position, and whose second is their class."""
    labels = np.repeat([f"class {number}" for number in range(len(counts))], counts)
    features = np.zeros((len(labels), dim), np.float32)
    features[:, 0] = np.arange(len(labels))
    features[:, 1] = np.repeat(np.arange(len(counts)), counts)
    np.savez(path, features=features, labels=labels)
    return path


def test_a_task_is_a_function_of_its_key_and_holds_no_image_twice(tmp_path):
    collection = VectorCollection.read(write(tmp_path / "toy.npz", [6, 7, 8, 9]))
    task = collection.task(3, 2, 4, key=(0, "test", 5))
    again = collection.task(3, 2, 4, key=(0, "test", 5))
    other = collection.task(3, 2, 4, key=(0, "test", 6))
    assert torch.equal(task.support, again.support)
    assert not torch.equal(task.query, other.query)
    positions = torch.cat([task.support, task.query])[:, 0]
    assert len(positions.unique()) == 3 * 2 + 3 * 4
    for label in range(3):
        classes = task.support[task.support_labels == label][:, 1].unique()
        assert len(classes) == 1
        assert torch.equal(task.query[task.query_labels == label][:, 1].unique(), classes)
    assert not set(task.outside[:, 1].tolist()) & set(task.support[:, 1].tolist())


def test_small_classes_give_the_queries_they_have_or_are_left_aside(tmp_path):
    collection = VectorCollection.read(write(tmp_path / "small.npz", [3, 5, 1]))
    task = collection.task(2, 2, 4, key=(0, "test", 0))
    assert len(task.query) == 2, "one query of each class, as many as the smaller one has left"
    assert len(task.outside) == 0, "the class with a single image is no class of two shots"
    with pytest.raises(DataError, match="2 classes with more than 2 images"):
        collection.task(3, 2, 1, key=(0, "test", 0))


def test_a_file_that_is_none_is_named(tmp_path):
    (tmp_path / "bad.npz").write_bytes(b"no archive")
    with pytest.raises(DataError, match=r"bad\.npz is not a file of vectors"):
        VectorCollection.read(tmp_path / "bad.npz")


def test_vectors_are_read_class_by_class(tmp_path):
    read = VectorCollection.read(write(tmp_path / "mine.npz", [4, 2, 3]))
    assert read.name == "mine"
    assert [tuple(vectors.shape) for vectors in read.classes] == [(4, 4), (2, 4), (3, 4)]
    assert read.allows(2, 2)
    assert not read.allows(3, 2)
