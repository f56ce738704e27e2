"""Normalization shifts what is constant in training and does not blow it up."""

import numpy as np
import torch

from samovar.data.normalization import Normalization, network_input
from samovar.data.store import ClassEntry, Contents
from samovar.data.store_writer import write_store


def test_what_is_constant_in_training_is_shifted_but_not_blown_up(tmp_path):
    """A dead unit of an encoder that wakes up for new classes."""
    features = np.random.default_rng(0).standard_normal((8, 3)).astype(np.float32)
    features[:4, 1], features[4:, 1] = 0.0, 1.0
    contents = Contents(
        [ClassEntry("a", 4), ClassEntry("b", 4)],
        (3,),
        lambda position: features[4 * position : 4 * position + 4],
        {"own": {"train": ["a"], "test": ["b"]}},
        dtype="float32",
    )
    store = write_store("features", {}, contents, tmp_path)
    normalised = Normalization.standard(store)(torch.from_numpy(features))
    np.testing.assert_allclose(normalised[:, 1], features[:, 1])
    np.testing.assert_allclose(normalised[:4, [0, 2]].std(0, correction=0), 1, rtol=1e-4)


def test_network_input_is_normalised_with_channels_last_in_memory():
    values = np.random.default_rng(0).integers(0, 256, (2, 3, 7, 7, 3), np.uint8)
    batch = torch.from_numpy(values)
    normalization = Normalization((0.1, 0.2, 0.3), (0.5, 0.6, 0.7))
    result = network_input(batch, normalization)
    mean = torch.tensor(normalization.mean).view(1, 3, 1, 1)
    std = torch.tensor(normalization.std).view(1, 3, 1, 1)
    expected = (batch.flatten(0, 1).permute(0, 3, 1, 2) / 255 - mean) / std
    torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-5)
    assert result.is_contiguous(memory_format=torch.channels_last)


def test_normalising_leaves_the_stored_images_as_they_are():
    images = torch.full((2, 4, 4, 1), 7.0)
    Normalization((0.5,), (0.5,))(images)
    assert (images == 7).all()
