"""Replaced content belongs to the same classes, images and tasks."""

import numpy as np
from helpers import make_store

from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler
from samovar.data.replaced_dataset import ReplacedDataset, image_indices
from samovar.settings.tasks import EpisodeSettings


def test_content_is_found_by_the_indices_of_its_images(tmp_path):
    names = [f"class {position}" for position in range(4)]
    split = {"train": names[:1], "val": [names[3], names[1]], "test": names[2:3]}
    dataset = Dataset(make_store(tmp_path, [3, 4, 5, 6], split=split), "val")
    indices = image_indices(dataset)
    assert indices.tolist() == [3, 4, 5, 6, 12, 13, 14, 15, 16, 17]
    replaced = ReplacedDataset(dataset, indices[:, None] * np.array([1.0, -1.0]))
    settings = EpisodeSettings(2, 1, 2)
    episodes = EpisodeSampler(dataset, settings, 0).draw(0, 3)
    assert np.array_equal(EpisodeSampler(replaced, settings, 0).draw(0, 3).query, episodes.query)
    content = replaced.gather(episodes.query)
    assert content.shape == (*episodes.query.shape, 2)
    assert np.array_equal(content[..., 0].numpy(), episodes.query)
    assert np.array_equal(content[..., 1].numpy(), -episodes.query)
