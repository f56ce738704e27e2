"""A model opens its own encoder, or the one that the user has given it."""

import pytest
from helpers import features_model, image_model
from helpers_photos import LENGTH, patch_encoder, small_regression

from samovar.artifacts.uses_encoder import with_encoder, with_encoder_of_task
from samovar.encoders.encoder_facts import EncoderFacts
from samovar.errors import ModelError


def test_an_encoder_that_is_given_is_the_one_that_is_opened():
    mine = patch_encoder("mine")
    for saved in (small_regression(), features_model(LENGTH)):
        changed = with_encoder(saved, mine)
        assert changed.open_encoder() is mine
        assert changed.encoder == EncoderFacts.of(mine)
        assert changed.encoder_is_chosen
        assert changed.identity != saved.identity, "other vectors, other answers"
        assert not saved.encoder_is_chosen


def test_the_same_encoder_in_another_place_leaves_the_identity():
    saved = small_regression()
    assert with_encoder(saved, patch_encoder()).identity == saved.identity


def test_a_task_says_which_encoder_but_opens_nothing():
    facts = EncoderFacts("nowhere.onnx", "0" * 64, LENGTH)
    saved = small_regression()
    assert with_encoder_of_task(saved, None) is saved
    changed = with_encoder_of_task(saved, facts)
    assert changed.encoder == facts
    with pytest.raises(ModelError, match=r"nowhere\.onnx"):
        changed.open_encoder()


def test_a_model_without_an_encoder_says_so():
    with pytest.raises(ModelError, match="has no encoder"):
        image_model().open_encoder()
