"""Users' images become a model's inputs, and those that cannot be read are listed."""

import numpy as np
import pytest
import torch
from helpers import features_model, image_model
from helpers_photos import (
    LENGTH,
    clouds,
    draw_photos,
    patch_encoder,
    patch_means,
    small_regression,
)
from PIL import Image

from samovar.artifacts.uses_encoder import with_encoder
from samovar.classifier.user_inputs import encoded_images, read_inputs, shown_images
from samovar.encoders.callable_encoder import CallableEncoder
from samovar.encoders.vector_cache import VectorCache
from samovar.errors import DataError, ModelError


@pytest.mark.parametrize("saved", [image_model(), small_regression()])
def test_files_are_read_in_order_and_unreadable_ones_are_listed(saved, tmp_path):
    draw_photos(tmp_path, {"disc": 2}, side=40)
    (tmp_path / "broken.jpg").write_bytes(b"broken")
    first, second = tmp_path / "disc" / "0.jpg", tmp_path / "disc" / "1.jpg"
    seen = []
    read = read_inputs(
        [first, tmp_path / "broken.jpg", second],
        saved,
        "mine",
        lambda _, share: seen.append(share),
    )
    assert read.paths == [first, second]
    assert len(read.inputs) == 2
    assert [image.path.name for image in read.unreadable] == ["broken.jpg"]
    assert "broken.jpg" in read.unreadable[0].reason
    assert read.positions == [0, 2]
    assert seen == [1 / 3, 2 / 3, 1]
    shown = shown_images(read.files)
    assert len(shown) == 2
    assert shown[0].dtype == np.uint8
    assert shown[0].shape == (40, 80, 3), "the whole photograph, not what the model sees"


def test_unreadable_images_are_listed_with_the_reason(tmp_path):
    Image.new("L", (8, 8)).save(tmp_path / "good.png")
    (tmp_path / "bad.png").write_text("text")
    paths = [tmp_path / "bad.png", tmp_path / "good.png", tmp_path / "missing.png"]
    result = read_inputs(paths, image_model(), "mine")
    assert result.paths == [tmp_path / "good.png"]
    assert [array.shape for array in result.inputs] == [(12, 12, 3)]
    assert [image.path.name for image in result.unreadable] == ["bad.png", "missing.png"]
    assert "its format is not one of JPEG" in result.unreadable[0].reason


def test_vectors_of_files_are_those_of_the_encoder(tmp_path):
    draw_photos(tmp_path, {"disc": 1}, side=40)
    path = tmp_path / "disc" / "0.jpg"
    read = read_inputs([path], small_regression(), "mine")
    np.testing.assert_array_equal(read.inputs[0], patch_encoder().encode([path])[0])


def test_a_matrix_of_the_encoders_vectors_is_taken_as_it_is():
    saved = small_regression()
    vectors, _ = clouds()
    given = encoded_images(vectors, saved)
    np.testing.assert_array_equal(torch.stack(given), vectors)
    images = np.zeros((2, 20, 30, 3), np.uint8)
    assert [len(vector) for vector in encoded_images(images, saved)] == [LENGTH, LENGTH]
    with pytest.raises(DataError, match="finite"):
        encoded_images(vectors * np.nan, saved)
    with pytest.raises(DataError, match="An array of images"):
        encoded_images(vectors[:, :5], saved)


def test_a_model_trained_on_vectors_takes_images_if_it_knows_their_encoder(tmp_path):
    path = draw_photos(tmp_path, {"disc": 1}, side=40) / "disc" / "0.jpg"
    saved = with_encoder(features_model(LENGTH), patch_encoder())
    read = read_inputs([path], saved, "mine")
    expected = patch_encoder().encode([path])[0]
    np.testing.assert_array_equal(read.inputs[0], expected)
    np.testing.assert_array_equal(encoded_images([path], saved)[0], expected)
    assert shown_images(read.files)[0].ndim == 3
    with pytest.raises(ModelError, match="does not know which encoder made them"):
        read_inputs([path], features_model(LENGTH), "mine")


def test_the_cache_spares_the_encoder(tmp_path):
    path = draw_photos(tmp_path, {"disc": 1}, side=40) / "disc" / "0.jpg"
    calls = []

    def counted(images):
        calls.append(len(images))
        return patch_means(images)

    saved = with_encoder(small_regression(), CallableEncoder(counted, "counted", size=16))
    calls.clear()
    with VectorCache(tmp_path) as cache:
        first = read_inputs([path], saved, "mine", cache=cache).inputs[0]
        again = read_inputs([path], saved, "mine", cache=cache).inputs[0]
    assert calls == [1]
    assert torch.equal(first, again)
