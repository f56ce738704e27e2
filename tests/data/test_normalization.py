"""Normalization shifts what is constant in training and does not blow it up."""

import numpy as np
import torch

from samovar.data.normalization import Normalization
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
