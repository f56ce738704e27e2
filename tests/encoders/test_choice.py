"""Users may name an encoder in several ways."""

import copy
import pickle

import numpy as np
import pytest
from helpers_encoders import LENGTH, write_tiny
from helpers_photos import patch_encoder
from PIL import Image
from sklearn.base import clone

from samovar import FewShotClassifier
from samovar.encoders.choice import as_encoder
from samovar.encoders.encoder_facts import EncoderFacts
from samovar.encoders.registry import register_encoder
from samovar.errors import SettingsError

PHOTO = Image.new("RGB", (40, 30), "red")


def sizes(images: list[Image.Image]) -> np.ndarray:
    return np.array([image.size for image in images])


class Sizes:
    def __call__(self, images):
        return sizes(images)


def test_names_files_facts_and_encoders_are_found(tmp_path):
    # Not the name of other tests: an encoder that is open stays open.
    register_encoder("chosen patches", lambda: patch_encoder("chosen patches"))
    encoder = as_encoder("chosen patches")
    assert as_encoder(encoder) is encoder
    assert as_encoder(EncoderFacts.of(encoder)) is encoder
    file = write_tiny(tmp_path / "tiny.onnx")
    assert as_encoder(str(file)).length == as_encoder(file).length == LENGTH


@pytest.mark.parametrize(("function", "name"), [(sizes, "sizes"), (Sizes(), "Sizes")])
def test_functions_take_pil_images_and_are_called_by_their_name(function, name):
    encoder = as_encoder(function)
    assert encoder.name == name
    np.testing.assert_array_equal(encoder.encode([PHOTO]), [[40, 30]])


def test_other_things_are_refused():
    with pytest.raises(SettingsError, match="but 3 was given"):
        as_encoder(3)
    with pytest.raises(SettingsError, match="only be given for an ONNX file"):
        as_encoder(sizes, "clip")


def test_encoders_survive_cloning_and_pickling(tmp_path):
    file = write_tiny(tmp_path / "tiny.onnx")
    for encoder in (as_encoder(sizes), patch_encoder(), as_encoder(file)):
        assert copy.deepcopy(encoder) is encoder
        assert clone(FewShotClassifier(encoder=encoder)).encoder is encoder
        again = pickle.loads(pickle.dumps(encoder))
        assert again.identity == encoder.identity
        np.testing.assert_allclose(again.encode([PHOTO]), encoder.encode([PHOTO]), atol=1e-6)
