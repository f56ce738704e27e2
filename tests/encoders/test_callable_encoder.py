"""Any function from images to vectors is an encoder."""

import numpy as np
import pytest
import torch
from helpers_encoders import picture
from PIL import Image

from samovar.encoders.callable_encoder import CallableEncoder
from samovar.errors import ModelError, SettingsError


def mean_colour(images):
    assert images.dtype == np.uint8
    return images.mean((1, 2))


def test_a_function_of_arrays_sees_the_centres():
    encoder = CallableEncoder(mean_colour, "mean colour", size=8)
    images = [Image.new("RGB", (30, 20), colour) for colour in ("red", "lime", "blue")]
    np.testing.assert_array_equal(encoder.encode(images), 255 * np.eye(3))
    assert encoder.input_size == 8


def test_a_function_of_pictures_sees_their_sizes():
    encoder = CallableEncoder(lambda images: [image.size for image in images], "sizes")
    vectors = encoder.encode([picture(0, (7, 9)), picture(1, (5, 3))])
    assert vectors.tolist() == [[7, 9], [5, 3]]
    assert encoder.input_size is None


def test_tensors_are_taken_from_the_function():
    encoder = CallableEncoder(
        lambda images: torch.ones(len(images), 4, requires_grad=True), "torch", 8
    )
    assert encoder.encode([picture(0)]).tolist() == [[1, 1, 1, 1]]


def test_batches_do_not_change_vectors():
    pictures = [picture(seed) for seed in range(11)]
    expected = CallableEncoder(mean_colour, "mean colour", 8).encode(pictures)
    small = CallableEncoder(mean_colour, "mean colour", 8, batch=3)
    np.testing.assert_array_equal(small.encode(pictures), expected)


def test_identity_is_the_name_and_the_preprocessing():
    first = CallableEncoder(mean_colour, "mean colour", 8)
    assert first.identity == CallableEncoder(mean_colour, "mean colour", 8).identity
    assert first.identity != CallableEncoder(mean_colour, "another", 8).identity
    assert first.identity != CallableEncoder(mean_colour, "mean colour", 9).identity


def test_a_function_that_returns_no_vectors_is_refused():
    with pytest.raises(ModelError, match=r"The encoder odd must return an array \(n, length\)"):
        CallableEncoder(lambda _: np.zeros(3), "odd")


def test_a_name_is_needed():
    with pytest.raises(SettingsError, match="needs a name"):
        CallableEncoder(mean_colour, "")
