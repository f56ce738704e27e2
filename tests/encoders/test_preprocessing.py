"""A preprocessing has one JSON form, refuses nonsense, and does what its numbers say."""

import json

import numpy as np
import pytest
from helpers_encoders import picture
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from samovar.encoders.preprocessing import (
    NAMED,
    Preprocessing,
    clip,
    cropped,
    encoder_input,
    imagenet,
    read_preprocessing,
    siglip,
)
from samovar.errors import SettingsError

PLAIN = Preprocessing(8, 8, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), scale=1.0)


@pytest.mark.parametrize("name", NAMED)
def test_json_form_is_read_back(name):
    original = NAMED[name](32)
    stored = json.loads(json.dumps(original.to_json()))
    assert Preprocessing.from_json(stored, "a test") == original


def test_pixels_are_scaled_shifted_and_divided():
    image = Image.new("RGB", (8, 8), (10, 20, 30))
    preprocessing = Preprocessing(8, 8, (1.0, 2.0, 3.0), (2.0, 4.0, 5.0), scale=0.5)
    array = encoder_input(image, preprocessing)
    assert array.shape == (3, 8, 8)
    assert array.dtype == np.float32
    np.testing.assert_allclose(array[:, 0, 0], [(5 - 1) / 2, (10 - 2) / 4, (15 - 3) / 5], rtol=1e-6)


def test_bgr_reverses_the_channels():
    image = Image.new("RGB", (8, 8), (10, 20, 30))
    reverse = Preprocessing(8, 8, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 1.0, channels="bgr")
    assert encoder_input(image, reverse)[:, 0, 0].tolist() == [30, 20, 10]


def test_the_crop_is_the_centre():
    pixels = np.zeros((8, 24, 3), np.uint8)
    pixels[:, 8:16] = 255
    assert np.asarray(cropped(Image.fromarray(pixels), PLAIN)).min() == 255


def test_squashing_keeps_the_borders():
    pixels = np.zeros((8, 24, 3), np.uint8)
    pixels[:, :8] = 255
    squashed = cropped(Image.fromarray(pixels), siglip(8))
    assert squashed.size == (8, 8)
    assert np.asarray(squashed)[0, 0, 0] > 200


@given(width=st.integers(1, 300), height=st.integers(1, 300))
def test_any_size_comes_out_in_the_same_shape(width, height):
    assert encoder_input(Image.new("RGB", (width, height)), imagenet(16)).shape == (3, 16, 16)


def test_a_ribbon_needs_little_memory():
    ribbon = Image.new("RGB", (60_000, 1), "red")
    assert cropped(ribbon, imagenet(224)).size == (224, 224)


def test_clip_resizes_to_the_crop_itself():
    assert cropped(picture(0, (60, 40)), clip(32)).size == (32, 32)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": 0}, "1 <= size"),
        ({"size": "224"}, "size must be a whole number, but is text"),
        ({"size": True}, "size must be a whole number, but is a truth value"),
        ({"resize": 100_000}, "resize"),
        ({"std": [1, 1, 0]}, "above zero"),
        ({"mean": [1, 2]}, "mean"),
        ({"scale": float("nan")}, "finite"),
        ({"interpolation": "magic"}, "interpolation"),
        ({"mood": "good"}, "unknown entry 'mood'"),
    ],
)
def test_nonsense_is_refused_by_name(change, message):
    content = imagenet().to_json() | change
    with pytest.raises(SettingsError, match=r"clip\.json") as caught:
        Preprocessing.from_json(content, "clip.json")
    assert message in str(caught.value)


@pytest.mark.parametrize("content", ["", "[1]", "{", '{"size": 4}', "\0\1"])
def test_a_file_that_is_no_preprocessing_is_named(content, tmp_path):
    path = tmp_path / "clip.json"
    path.write_text(content)
    with pytest.raises(SettingsError, match=r"clip\.json"):
        read_preprocessing(path)
