"""A model is tried on test images, and its errors are those of ONNX Runtime."""

import json
import subprocess
import sys

import pytest
from helpers_encoders import SIZE, tiny_model
from onnx import helper

from samovar.encoders.onnx_trial import try_model


def failing(batch: str | int):
    """A model that fails when it is run, on any image."""
    node = helper.make_node("Reshape", ["vectors", "weight_shape"], ["result"])
    shape = helper.make_node("Constant", [], ["weight_shape"], value_ints=[7, 7])
    outputs = [("result", ("a", "b"))]
    return tiny_model(shape=(batch, 3, "h", "w"), nodes=[shape, node], outputs=outputs)


def test_a_sound_model_passes_at_its_own_size_or_any():
    for shape in (("n", 3, SIZE, SIZE), ("n", 3, "h", "w"), (1, 3, SIZE, SIZE)):
        outputs = [("vectors", (shape[0], 5))]
        try_model(tiny_model(shape=shape, outputs=outputs).SerializeToString(), 24)


def test_a_model_is_run_and_not_only_loaded():
    with pytest.raises(Exception, match="Reshape"):
        try_model(failing("n").SerializeToString(), 24)


def test_what_is_not_a_network_of_images_is_only_loaded():
    for batch in (4, 7):  # refused elsewhere, with a reason
        try_model(failing(batch).SerializeToString(), 24)


def test_the_program_prints_json_about_the_model_it_reads():
    for model, words in ((tiny_model(), None), (failing("n"), "Reshape")):
        command = [sys.executable, "-m", "samovar.encoders.onnx_trial", "24", str(2**32), "60"]
        content = model.SerializeToString()
        done = subprocess.run(command, input=content, capture_output=True, check=True)
        error = json.loads(done.stdout)["error"]
        assert (error is None) if words is None else (words in error)
