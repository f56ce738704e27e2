"""Encoders that several files of tests share."""

from pathlib import Path

import pytest
from helpers_encoders import write_tiny

from samovar.encoders.efficientnet_lite import EfficientNetLite
from samovar.encoders.onnx_encoder import OnnxEncoder


@pytest.fixture(autouse=True)
def cache_folder(tmp_path_factory, monkeypatch) -> Path:
    """No test touches the user's cache."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("SAMOVAR_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def lite0() -> EfficientNetLite:
    return EfficientNetLite()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> OnnxEncoder:
    return OnnxEncoder(write_tiny(tmp_path_factory.mktemp("tiny") / "tiny.onnx"))
