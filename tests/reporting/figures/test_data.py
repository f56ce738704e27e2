"""A contact sheet shows the images of a seed, and says when there is nothing to draw."""

import io

import numpy as np
import pytest
from helpers import make_store
from helpers_images import drawn
from PIL import Image

from samovar.data.dataset import Dataset
from samovar.errors import DataError
from samovar.reporting.figures.data import contact_sheet


@pytest.fixture
def dataset(tmp_path) -> Dataset:
    """Four classes; an image is as bright as its index."""
    split = {"train": [f"class {number}" for number in range(4)], "val": [], "test": []}
    return Dataset(make_store(tmp_path, [3, 40, 1, 5], (8, 8, 1), split))


def test_the_same_seed_draws_the_same_sheet(dataset):
    sheets = [contact_sheet(dataset, 2, seed) for seed in (0, 0, 1)]
    assert sheets[0] == sheets[1] != sheets[2]


def test_a_sheet_shows_the_first_images_of_each_class(dataset):
    sheet = contact_sheet(dataset, 99, 0)
    with Image.open(io.BytesIO(sheet)) as image:
        shades = set(np.unique(np.array(image.convert("L"))).tolist())
    firsts = {0, 1, 2, *range(3, 15), 43, 44, 45, 46, 47, 48}
    assert firsts <= shades, "every class has its first dozen images"


def test_rows_with_few_images_and_hostile_names_are_drawn(tmp_path):
    store = make_store(tmp_path, [1, 2], (6, 6, 3), {"train": ["class 0", "class 1"]})
    dataset = Dataset(store)
    dataset.class_names = ["$\\frac{1$", "a\nb" * 40]
    assert drawn(contact_sheet(dataset, 2, 0)).shape[1] == 11 * 200


def test_what_cannot_be_drawn_is_said(dataset, tmp_path):
    with pytest.raises(DataError, match="nothing to draw: 0 classes"):
        contact_sheet(dataset, 0, 0)
    with pytest.raises(DataError, match="nothing to draw"):
        contact_sheet(Dataset(dataset.store, "val"), 3, 0)
    vectors = make_store(tmp_path, [3, 3], (7,), name="vectors")
    with pytest.raises(DataError, match="vectors contains feature vectors"):
        contact_sheet(Dataset(vectors), 2, 0)
