"""Users' images become a model's inputs, and those that cannot be read are listed."""

import numpy as np
import pytest
import torch
from helpers import image_model
from helpers_photos import LENGTH, clouds, draw_photos, patch_encoder, small_regression

from samovar.classifier.user_inputs import encoded_images, read_inputs, shown_images
from samovar.errors import DataError


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
    shown = shown_images(read, saved)
    assert len(shown) == 2
    assert shown[0].dtype == np.uint8
    assert shown[0].ndim == 3


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
