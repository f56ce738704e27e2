"""Any ONNX file that fits is an encoder; one that does not is refused with the reason."""

import json

import numpy as np
import pytest
from helpers_encoders import LENGTH, PREPROCESSING, SIZE, picture, tiny_model, write_tiny
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from samovar.encoders.onnx_encoder import OnnxEncoder, named_preprocessing
from samovar.encoders.preprocessing import Preprocessing, imagenet
from samovar.errors import ModelError, SettingsError


def test_an_onnx_file_is_an_encoder(tiny):
    assert tiny.name == "tiny.onnx"
    assert tiny.length == LENGTH
    assert tiny.encode([picture(0), picture(1)]).shape == (2, LENGTH)


def test_the_preprocessing_is_found_under_either_name(tmp_path, tiny):
    path = write_tiny(tmp_path / "clip.onnx", preprocessing=None)
    with pytest.raises(ModelError, match=r"clip\.onnx is not known.*--preprocessing.*clip\.json"):
        OnnxEncoder(path)
    (tmp_path / "clip.onnx.json").write_text(json.dumps(PREPROCESSING))
    assert OnnxEncoder(path).identity == tiny.identity


def test_identity_is_that_of_the_file_and_the_preprocessing(tmp_path, tiny):
    path = write_tiny(tmp_path / "clip.onnx")
    assert OnnxEncoder(path).identity == tiny.identity
    assert OnnxEncoder(path, imagenet(SIZE)).identity != tiny.identity
    model = tiny_model()
    model.doc_string = "another"
    write_tiny(path, model)
    assert OnnxEncoder(path).identity != tiny.identity


def test_a_named_preprocessing_takes_the_size_of_the_network(tmp_path):
    path = write_tiny(tmp_path / "clip.onnx", preprocessing=None)
    assert OnnxEncoder(path, "clip").input_size == SIZE
    with pytest.raises(SettingsError, match="imagenet, clip, siglip or a JSON file"):
        named_preprocessing("magic")


def test_a_size_that_does_not_fit_is_refused(tmp_path):
    path = write_tiny(tmp_path / "clip.onnx")
    with pytest.raises(ModelError, match="16 x 16 pixels, but its preprocessing makes them 8 x 8"):
        OnnxEncoder(path, Preprocessing(8, 8, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)))


def test_any_size_is_taken_where_the_network_takes_any(tmp_path):
    path = write_tiny(tmp_path / "any.onnx", tiny_model(shape=("n", 3, "h", "w")))
    assert OnnxEncoder(path, imagenet(24)).input_size == 24


def test_a_network_for_one_image_is_run_one_by_one(tmp_path, tiny):
    model = tiny_model(shape=(1, 3, SIZE, SIZE), outputs=[("vectors", (1, LENGTH))])
    encoder = OnnxEncoder(write_tiny(tmp_path / "one.onnx", model))
    pictures = [picture(seed) for seed in range(5)]
    np.testing.assert_allclose(encoder.encode(pictures), tiny.encode(pictures), atol=1e-5)


def test_the_output_of_vectors_is_chosen_among_several(tmp_path, tiny):
    outputs = [("maps", ("n", LENGTH, "h", "w")), ("vectors", ("n", LENGTH))]
    encoder = OnnxEncoder(write_tiny(tmp_path / "two.onnx", tiny_model(outputs=outputs)))
    np.testing.assert_allclose(encoder.encode([picture(0)]), tiny.encode([picture(0)]), atol=1e-6)


def node(operator, inputs, output, **attributes):
    return helper.make_node(operator, inputs, [output], **attributes)


TWO = [("vectors", ("n", LENGTH)), ("twice", ("n", LENGTH))]
WHOLE = tiny_model(
    nodes=[node("Cast", ["vectors"], "result", to=TensorProto.INT64)],
    outputs=[("result", ("n", LENGTH))],
)
WHOLE.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
NON_ZERO = [node("NonZero", ["vectors"], "places")]
NON_ZERO += [node("Cast", ["places"], "result", to=TensorProto.FLOAT)]
NOT_A_NUMBER = [node("Sub", ["vectors", "vectors"], "zero"), node("Log", ["zero"], "endless")]
NOT_A_NUMBER += [node("Sub", ["endless", "endless"], "result")]
ACROSS = [node("ReduceMean", ["vectors"], "mean", axes=[0], keepdims=1)]
ACROSS += [node("Sub", ["vectors", "mean"], "result")]

UNFIT = {
    "float32 of the shape": tiny_model(shape=("n", SIZE, SIZE, 3)),
    "at most 2048": tiny_model(shape=("n", 3, 9000, 9000)),
    "batches of exactly 4": tiny_model(shape=(4, 3, SIZE, SIZE)),
    "exactly one output": tiny_model(
        nodes=[node("Add", ["vectors", "vectors"], "twice")], outputs=TWO
    ),
    "for one image it gives: maps": tiny_model(outputs=[("maps", ("n", LENGTH, "h", "w"))]),
    "not finite": tiny_model(nodes=NOT_A_NUMBER, outputs=[("result", ("n", LENGTH))]),
    "other vectors for an image alone": tiny_model(
        nodes=ACROSS, outputs=[("result", ("n", LENGTH))]
    ),
    "cannot be run by ONNX Runtime": tiny_model(
        nodes=[node("NoSuchOperator", ["vectors"], "result")],
        outputs=[("result", ("n", LENGTH))],
    ),
    r"it gives: result \(1, 5\) int64": WHOLE,
    r"it gives: result \(2, \d\) float32": tiny_model(
        nodes=NON_ZERO, outputs=[("result", ("rows", "columns"))]
    ),
    "Type Error": tiny_model(kind=TensorProto.DOUBLE),
}


@pytest.mark.parametrize("message", UNFIT)
def test_networks_that_do_not_fit_are_refused_by_name(message, tmp_path):
    path = write_tiny(tmp_path / "clip.onnx", UNFIT[message])
    with pytest.raises(ModelError, match=message) as caught:
        OnnxEncoder(path)
    assert "clip.onnx" in str(caught.value)


def test_a_network_with_text_besides_images_is_refused(tmp_path):
    model = tiny_model(
        nodes=[node("Add", ["vectors", "text"], "result")], outputs=[("result", ("n", 5))]
    )
    model.graph.input.append(helper.make_tensor_value_info("text", TensorProto.FLOAT, ["n", 5]))
    path = write_tiny(tmp_path / "clip.onnx", model)
    with pytest.raises(ModelError, match=r"one input, the images, but has 2 \(images, text\)"):
        OnnxEncoder(path)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_damaged_file_is_an_error_with_a_sentence_or_still_an_encoder(seed, tmp_path_factory):
    path = tmp_path_factory.mktemp("damaged") / "clip.onnx"
    random = np.random.default_rng(seed)
    content = np.frombuffer(tiny_model().SerializeToString(), np.uint8).copy()
    places = random.integers(0, len(content), 4)
    content[places] = random.integers(0, 256, 4)
    path.write_bytes(content.tobytes())
    try:
        encoder = OnnxEncoder(path, imagenet(SIZE))
        shape = encoder.encode([picture(0)]).shape
    except ModelError as error:
        sentence = str(error)
    else:
        sentence = f"clip.onnx {shape}"
    assert "clip.onnx" in sentence
