"""A dataset gathers each image where it is, and its rotations are new classes."""

import numpy as np
import torch

from samovar.data.dataset import Dataset
from samovar.data.store import ClassEntry, Contents
from samovar.data.store_writer import write_store

FACTS = {"title": "", "licence": "", "citation": ""}


def test_gather_finds_each_image(toy):
    indices = np.array([[0, 5], [100, 186]])
    images = toy.gather(indices)
    assert images.shape == (2, 2, 6, 6, 3)
    assert images.dtype == torch.uint8
    np.testing.assert_array_equal(images[..., 0, 0, 0].numpy(), indices)


def test_rotations_are_new_classes_with_turned_images(tmp_path):
    contents = Contents(
        [ClassEntry("a", 1), ClassEntry("b", 1)],
        (3, 3, 1),
        lambda position: np.arange(9).reshape(1, 3, 3, 1) + 10 * position,
        {"all": {"train": ["a", "b"]}},
    )
    store = write_store("turns", FACTS, contents, tmp_path)
    dataset = Dataset(store, rotations=True)
    assert len(dataset) == 8
    for position in range(8):
        image = dataset.gather(dataset.starts[position : position + 1])[0, ..., 0].numpy()
        np.testing.assert_array_equal(
            image, np.rot90(np.arange(9).reshape(3, 3) + 10 * (position % 2), position // 2)
        )
    assert dataset.class_names[3] == "b turned 90"


def test_the_description_names_split_scheme_and_what_is_missing(tmp_path):
    contents = Contents(
        [ClassEntry("a", 2), ClassEntry("b", 2)],
        (1, 1, 1),
        lambda position: np.full((2, 1, 1, 1), position),
        {"first": {"train": ["a"], "test": ["b"]}, "second": {"train": ["b"], "test": ["a"]}},
        official_images=1000,
    )
    dataset = Dataset(write_store("few", FACTS, contents, tmp_path), "train")
    missing = "partial: 4 of 1,000 images"
    assert dataset.description == f"few (train, 1 classes, {missing})"
    assert dataset.part("test").description == f"few (test, 1 classes, {missing})"
    second = Dataset(dataset.store, "train", scheme="second")
    assert second.description == f"few (train of second, 1 classes, {missing})"
    assert list(second.class_names) == ["b"]
    assert second.identity == dataset.part("test").identity, "the same classes of the same images"
    assert second.identity != dataset.identity
