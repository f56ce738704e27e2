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
