"""Encoders are found by name or by path, and built once."""

import pytest
from helpers_encoders import write_tiny

from samovar.encoders import registry
from samovar.encoders.callable_encoder import CallableEncoder
from samovar.encoders.registry import encoder_names, find_encoder, register_encoder
from samovar.errors import ModelError, SettingsError


def test_built_in_encoders_have_names_and_are_built_once():
    assert encoder_names()[:2] == ["efficientnet_lite0", "efficientnet_lite2"]
    assert find_encoder("efficientnet_lite0") is find_encoder("efficientnet_lite0")


def test_a_registered_encoder_is_found_and_may_be_replaced(monkeypatch):
    monkeypatch.setattr(registry, "_BUILDS", dict(registry._BUILDS))
    for length in (3, 4):

        def build(length: int = length) -> CallableEncoder:
            return CallableEncoder(lambda images: [[0] * length] * len(images), "zeros")

        register_encoder("zeros", build)
        assert find_encoder("zeros").length == length


def test_an_onnx_file_is_found_by_its_path(tmp_path, tiny):
    path = write_tiny(tmp_path / "clip.onnx")
    assert find_encoder(str(path)).identity == tiny.identity
    assert find_encoder(path, "imagenet").identity != tiny.identity


def test_an_unknown_name_is_told_which_there_are():
    with pytest.raises(ModelError, match=r"'clip'.*efficientnet_lite0.*ONNX file"):
        find_encoder("clip")
    with pytest.raises(ModelError, match=r"missing\.onnx"):
        find_encoder("missing.onnx")


def test_a_named_encoder_has_its_own_preprocessing():
    with pytest.raises(SettingsError, match="has its own preprocessing"):
        find_encoder("efficientnet_lite0", "clip")
