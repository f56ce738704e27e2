"""Encoders that several files of tests share."""

import pytest
from helpers_encoders import write_tiny

from samovar.encoders.efficientnet_lite import EfficientNetLite
from samovar.encoders.onnx_encoder import OnnxEncoder


@pytest.fixture(scope="session")
def lite0() -> EfficientNetLite:
    return EfficientNetLite()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> OnnxEncoder:
    path = write_tiny(tmp_path_factory.mktemp("tiny") / "tiny.onnx")
    # The cache of a test is set later than this is made; the user's is not touched.
    return OnnxEncoder(path, remember=False)
