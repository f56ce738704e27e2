"""Ready-made features are read with their labels from npz and npy files."""

import numpy as np
import pytest

from samovar.data.dataset import Dataset
from samovar.data.preparation import prepare


@pytest.mark.parametrize(
    "labels", [np.repeat(np.arange(4), 5), np.repeat(["ant", "bee", "cat", "dog"], 5)]
)
@pytest.mark.parametrize("form", ["npz", "npy"])
def test_features(tmp_path, labels, form):
    features = np.random.default_rng(0).standard_normal((20, 7))
    order = np.random.default_rng(1).permutation(20)
    if form == "npz":
        root = tmp_path / "clip.npz"
        np.savez(root, features=features[order], labels=labels[order])
    else:
        root = tmp_path
        np.save(root / "features.npy", features[order])
        np.save(root / "labels.npy", labels[order])
    store = prepare("features", root)
    assert store.array.shape == (20, 7)
    assert store.array.dtype == np.float32
    assert [entry.name for entry in store.classes] == [str(label) for label in labels[::5]]
    np.testing.assert_allclose(np.sort(store.array[:5], 0), np.sort(features[:5], 0), rtol=1e-6)
    gathered = Dataset(store).gather(np.array([[0, 1]]))
    assert gathered.shape == (1, 2, 7)
