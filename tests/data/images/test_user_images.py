"""Images in any form are the same to the model, or are refused in a sentence."""

import numpy as np
import pytest
import torch
from helpers import image_model, make_store
from helpers_sources import make_folder, make_omniglot
from PIL import Image

from samovar import FewShotClassifier
from samovar.data.images.conversion import Conversion
from samovar.data.images.user_images import conversion_of, network_images
from samovar.data.preparation import prepare
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings


def test_all_kinds_of_images_are_the_same_image(tmp_path):
    noise = np.random.default_rng(0)
    arrays = noise.integers(256, size=(6, 12, 12, 3), dtype=np.uint8)
    paths = []
    for i, array in enumerate(arrays):
        paths.append(tmp_path / f"{i}.png")
        Image.fromarray(array).save(paths[-1])
    classifier = FewShotClassifier(image_model(), samples=8).fit(arrays, list("aabbcc"))
    expected = classifier.predict_proba(arrays)
    for kind in (
        paths,
        [str(path) for path in paths],
        [Image.open(path) for path in paths],
        [array / 255 for array in arrays],
        torch.from_numpy(arrays),
        torch.from_numpy(arrays).permute(0, 3, 1, 2) / 255,
        (torch.from_numpy(arrays) / 255).requires_grad_(),
    ):
        np.testing.assert_allclose(classifier.predict_proba(kind), expected, atol=1e-5)
    grey = noise.integers(256, size=(2, 30, 17), dtype=np.uint8)
    assert classifier.predict_proba(grey).shape == (2, 3)


@pytest.mark.parametrize(
    ("images", "words"),
    [
        (np.zeros((2, 12, 12, 7), np.uint8), "shape"),
        (np.full((2, 12, 12), 3.0), "outside 0 to 1"),
        (np.full((2, 12, 12), np.nan), "outside 0 to 1"),
        (np.full((2, 12, 12), 300), "neither uint8"),
        ("photo.jpg", "several images"),
        (["missing.png", "missing.png"], "cannot be read"),
        (np.zeros((2, 12), np.uint8), "array of images"),
    ],
)
def test_bad_images_are_refused_in_a_sentence(images, words):
    with pytest.raises(DataError, match=words):
        FewShotClassifier(image_model()).fit(images, ["a", "b"])


def test_arrays_of_paths_are_paths(tmp_path):
    paths = []
    for i in range(4):
        Image.new("L", (20, 20), 60 * i).save(tmp_path / f"{i}.png")
        paths.append(str(tmp_path / f"{i}.png"))
    classifier = FewShotClassifier(image_model(), samples=4).fit(np.array(paths), [0, 0, 1, 1])
    np.testing.assert_array_equal(
        classifier.predict_proba(np.array(paths)), classifier.predict_proba(paths)
    )


def test_a_store_of_another_name_reads_new_images_as_its_source_does(tmp_path):
    make_omniglot(tmp_path)
    plain, renamed = (prepare("omniglot", tmp_path, store_name=name) for name in (None, "mine"))
    assert (
        conversion_of(renamed)
        == conversion_of(plain)
        == Conversion(28, "grey", "lanczos", inverted=True)
    )


@pytest.mark.parametrize(
    ("source_name", "resampling", "inverted"),
    [
        ("omniglot", "lanczos", True),
        ("glyphs", "lanczos", True),
        ("cifar_fs", "bilinear", False),
        ("miniimagenet", "bilinear", False),
        ("folder", "bilinear", False),
        ("a source that nobody knows", "bilinear", False),
    ],
)
def test_stores_without_facts_of_their_source_are_converted_as_they_always_were(
    tmp_path, source_name, resampling, inverted
):
    """Stores of version 0.1 record the name of their source, but not its resampling."""
    store = make_store(tmp_path, [2, 2], source_name=source_name)
    assert "resampling" not in store.facts
    assert conversion_of(store) == Conversion(6, "rgb", resampling, inverted)


def test_what_the_user_chose_for_a_folder_counts(tmp_path):
    make_folder(tmp_path / "own", ["a", "b"])
    settings = PrepareSettings(size=8, colour="grey", inverted=True)
    store = prepare("folder", tmp_path / "own", settings)
    assert conversion_of(store) == Conversion(8, "grey", "bilinear", inverted=True)


def test_feature_vectors_have_no_conversion(tmp_path):
    assert conversion_of(make_store(tmp_path, [2, 2], shape=(5,))) is None


def test_images_that_are_converted_already_are_copied():
    array = np.zeros((2, 6, 6, 3), np.uint8)
    first, _ = network_images(array, Conversion(6))
    array[:] = 9
    assert first.max() == 0
    inverted, _ = network_images(array, Conversion(6, inverted=True))
    assert inverted.min() == 255 - 9


def test_a_table_of_one_column_is_that_column(tmp_path):
    """Of a pandas DataFrame, which is not installed here, only these parts are used."""

    class Table:
        iloc = None

        def __init__(self, rows):
            self.rows = np.array(rows, dtype=object)

        def to_numpy(self):
            return self.rows

    paths = []
    for i in range(2):
        Image.new("L", (20, 20), 60 * i).save(tmp_path / f"{i}.png")
        paths.append(str(tmp_path / f"{i}.png"))
    expected = network_images(paths, Conversion(8))
    for table in (Table([[path] for path in paths]), np.array(paths)[:, None]):
        found = network_images(table, Conversion(8))
        assert [image.tolist() for image in found] == [image.tolist() for image in expected]
    with pytest.raises(DataError, match="one column, but has 2"):
        network_images(Table([paths]), Conversion(8))


def test_progress_is_told():
    seen = []
    images = [Image.new("L", (9, 9))] * 2
    network_images(images, Conversion(8), lambda what, share: seen.append((what, share)))
    assert seen == [("1 of 2 images", 0.5), ("2 of 2 images", 1.0)]
