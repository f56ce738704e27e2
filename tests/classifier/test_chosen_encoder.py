"""The closed form takes any encoder, a network of vectors its own, a network of images none."""

from dataclasses import replace

import pytest
from helpers import features_model, image_model
from helpers_encoders import LENGTH, tiny_model, write_tiny
from helpers_photos import patch_encoder, small_regression

from samovar.classifier.chosen_encoder import choose_encoder, same_encoder
from samovar.encoders.encoder_facts import EncoderFacts
from samovar.encoders.onnx_encoder import OnnxEncoder
from samovar.errors import ModelError, SettingsError


@pytest.fixture
def file(tmp_path):
    return write_tiny(tmp_path / "tiny.onnx")


@pytest.fixture
def trained_on_file(file):
    """A model of vectors that knows its encoder, and the place that the file has moved to."""
    saved = replace(features_model(LENGTH), encoder=EncoderFacts.of(OnnxEncoder(file)))
    moved = file.parent / "elsewhere" / "other name.onnx"
    moved.parent.mkdir()
    file.rename(moved)
    return saved, moved


def test_without_a_choice_nothing_changes():
    for saved in (small_regression(), features_model(3), image_model()):
        assert choose_encoder(saved, None) is saved
        assert same_encoder(saved, None) is saved
    with pytest.raises(SettingsError, match="name it with --encoder"):
        choose_encoder(small_regression(), None, "clip")


def test_the_closed_form_takes_any_encoder(file):
    saved = small_regression()
    changed = choose_encoder(saved, str(file))
    assert changed.encoder.length == LENGTH
    assert changed.identity != saved.identity
    mine = patch_encoder("mine")
    assert choose_encoder(saved, mine).open_encoder() is mine
    other = file.with_name("bare.onnx")
    other.write_bytes(file.read_bytes())
    with pytest.raises(ModelError, match="--preprocessing"):
        choose_encoder(saved, str(other))
    assert choose_encoder(saved, str(other), "clip").encoder.preprocessing.size == 16


def test_a_file_that_has_moved_is_recognised_without_its_preprocessing(trained_on_file):
    saved, moved = trained_on_file
    changed = choose_encoder(saved, str(moved))
    assert changed.identity == saved.identity
    assert changed.encoder.name == str(moved)
    regression = replace(small_regression(), encoder=saved.encoder)
    assert choose_encoder(regression, moved).identity == regression.identity
    assert same_encoder(regression, moved).identity == regression.identity


def test_another_file_is_refused_by_a_network_of_vectors(trained_on_file, tmp_path):
    saved, _ = trained_on_file
    model = tiny_model()
    model.producer_name = "another"
    other = write_tiny(tmp_path / "another.onnx", model)
    for choose in (choose_encoder, same_encoder):
        with pytest.raises(ModelError, match=r"another\.onnx is not the encoder"):
            choose(saved, str(other))
    regression = replace(small_regression(), encoder=saved.encoder)
    assert choose_encoder(regression, str(other)).identity != regression.identity


def test_a_network_of_vectors_from_elsewhere_is_told_its_encoder(file):
    assert choose_encoder(features_model(LENGTH), str(file)).encoder.name == str(file)
    with pytest.raises(ModelError, match="makes vectors of 5 numbers, but this model"):
        choose_encoder(features_model(7), str(file))
    with pytest.raises(ModelError, match="does not know which encoder"):
        same_encoder(features_model(LENGTH), str(file))


def test_a_network_of_images_has_no_encoder(file):
    for choose in (choose_encoder, same_encoder):
        with pytest.raises(ModelError, match="by a network of its own"):
            choose(image_model(), str(file))
