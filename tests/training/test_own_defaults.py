"""Photographs are mirrored and shifted, a fitting shipped model is the start, and flags hold."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import make_store, store_of

from samovar.artifacts.locate import locate_model
from samovar.artifacts.saved_model import load_network
from samovar.settings.data import AugmentationSettings
from samovar.settings.presets import PRESETS
from samovar.training.own_defaults import FINE_TUNING, Chosen, choose, starting_model

SETTINGS = PRESETS["folder"].settings


@pytest.fixture
def photographs(data_folder):
    """Coloured images of 32 pixels."""
    noise = np.random.default_rng(0)
    return store_of(data_folder, noise.integers(40, 215, (6, 4, 32, 32, 3), np.uint8))


@pytest.fixture
def drawings(data_folder):
    """Black lines on white, stored in colour."""
    pixels = np.full((6, 4, 32, 32, 3), 255, np.uint8)
    pixels[:, :, 10:13] = 0
    return store_of(data_folder, pixels, "drawings")


def sized(store):
    size = store.facts["shape"][0]
    return replace(SETTINGS, model=replace(SETTINGS.model, size=size))


def fine_tuned_network():
    """The network of the shipped model, without the head for the classes it was co-trained on."""
    network = load_network(locate_model("cifar_fs")).model.settings
    return replace(network, auxiliary_classes=0)


def test_photographs_are_mirrored_and_shifted_unless_a_flag_says_otherwise(photographs, drawings):
    settings = sized(photographs)
    chosen = choose(settings, photographs, frozenset())
    assert chosen.settings.augmentation == AugmentationSettings(flip=True, crop_padding=4)
    assert "mirrored and shifted by up to 4 pixels" in chosen.notes[-1]
    off = choose(settings, photographs, {"augmentation.no_flip"})
    assert off.settings.augmentation == AugmentationSettings()
    drawn = choose(settings, drawings, frozenset())
    assert drawn.settings.augmentation == AugmentationSettings(), "a mirrored letter is another one"


def test_a_shipped_model_of_such_images_is_the_start(photographs):
    settings = sized(photographs)
    chosen = choose(settings, photographs, frozenset())
    assert chosen.init == "cifar_fs"
    assert chosen.settings.model == fine_tuned_network(), "its network, so that all tensors fit"
    assert chosen.settings.optimizer.learning_rate == FINE_TUNING
    assert "starting from the shipped model cifar_fs" in chosen.notes[0]
    given = {"optimizer.learning_rate", "model.size"}
    assert choose(settings, photographs, given).settings.optimizer == settings.optimizer


def test_another_start_or_network_that_the_user_asks_for_holds(photographs):
    settings = sized(photographs)
    none = choose(settings, photographs, {"init"}, "none")
    assert (none.init, none.settings.model) == (None, settings.model)
    assert none.notes[0] == "starting from random weights"
    other = choose(settings, photographs, {"init"}, "runs/other")
    assert (other.init, other.settings.model) == ("runs/other", settings.model)
    wide = choose(settings, photographs, {"model.width"})
    assert (wide.init, wide.settings.model) == (None, settings.model)
    same = choose(settings, photographs, {"init"}, "cifar_fs")
    assert same.init == "cifar_fs"
    assert same.settings.model == fine_tuned_network()


def test_images_of_another_size_and_vectors_start_from_random_weights(data_folder):
    large = make_store(data_folder, [4] * 3, (84, 84, 3), name="large")
    assert starting_model(large) is None
    vectors = make_store(data_folder, [4] * 3, (7,), name="vectors")
    expected = Chosen(SETTINGS, ["starting from random weights: no shipped network fits"])
    assert choose(SETTINGS, vectors, frozenset()) == expected
