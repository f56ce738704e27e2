"""Files that are not safe or not sound ONNX are refused by name before anything is run."""

import os

import onnx
import pytest
from helpers_encoders import tiny_model
from onnx import TensorProto, helper

from samovar.encoders import onnx_file
from samovar.encoders.onnx_file import read_onnx
from samovar.errors import ModelError


def test_a_sound_file_is_returned_as_it_is(tmp_path):
    content = tiny_model().SerializeToString()
    path = tmp_path / "tiny.onnx"
    path.write_bytes(content)
    assert read_onnx(path) == content


@pytest.mark.parametrize("content", [b"", b"not a network", b"\x08" * 5000, b"PK\x03\x04 a zip"])
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "clip.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"clip\.onnx is not an ONNX file"):
        read_onnx(path)


def test_a_file_cut_short_is_refused(tmp_path):
    path = tmp_path / "clip.onnx"
    path.write_bytes(tiny_model().SerializeToString()[:-100])
    with pytest.raises(ModelError, match=r"clip\.onnx"):
        read_onnx(path)


def test_folders_pipes_and_missing_files_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.onnx")
    for name, message in ((".", "not a file"), ("pipe.onnx", "not a file"), ("no.onnx", "no.onnx")):
        with pytest.raises(ModelError, match=message):
            read_onnx(tmp_path / name)


def test_a_huge_file_is_refused_without_reading_it(tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_file, "LARGEST_MODEL", 100)
    path = tmp_path / "huge.onnx"
    path.write_bytes(tiny_model().SerializeToString())
    with pytest.raises(ModelError, match=r"huge\.onnx has .* bytes"):
        read_onnx(path)


def test_weights_in_other_files_are_refused(tmp_path):
    path = tmp_path / "clip.onnx"
    onnx.save(
        tiny_model(), path, save_as_external_data=True, location="secret.bin", size_threshold=0
    )
    with pytest.raises(ModelError, match=r"clip\.onnx keeps weights in other files"):
        read_onnx(path)


def elsewhere(place: str) -> TensorProto:
    """A tensor whose numbers are in another file."""
    tensor = helper.make_tensor("value", TensorProto.FLOAT, [1], [1.0])
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key = "location"
    entry.value = place
    return tensor


def in_a_node(tensor: TensorProto) -> onnx.ModelProto:
    return tiny_model(nodes=[helper.make_node("Constant", [], ["unused"], value=tensor)])


def in_a_sparse_tensor(tensor: TensorProto) -> onnx.ModelProto:
    node = helper.make_node("Constant", [], ["unused"])
    sparse = node.attribute.add(name="sparse", type=onnx.AttributeProto.SPARSE_TENSORS)
    sparse.sparse_tensors.add().values.CopyFrom(tensor)
    return tiny_model(nodes=[node])


def in_a_default_of_a_function(tensor: TensorProto) -> onnx.ModelProto:
    model = tiny_model()
    default = model.functions.add(domain="mine", name="f").attribute_proto.add(name="value")
    default.t.CopyFrom(tensor)
    return model


def in_a_graph_that_claims_to_be_a_number(tensor: TensorProto) -> onnx.ModelProto:
    node = helper.make_node("If", ["yes"], ["result"])
    attribute = node.attribute.add(name="then_branch", type=onnx.AttributeProto.INT)
    attribute.g.initializer.append(tensor)
    return tiny_model(nodes=[node])


@pytest.mark.parametrize("place", ["/etc/passwd", "../../etc/passwd", "weights.bin"])
@pytest.mark.parametrize(
    "hidden",
    [
        in_a_node,
        in_a_sparse_tensor,
        in_a_default_of_a_function,
        in_a_graph_that_claims_to_be_a_number,
    ],
)
def test_weights_in_other_files_are_found_wherever_they_are_hidden(hidden, place, tmp_path):
    path = tmp_path / "clip.onnx"
    path.write_bytes(hidden(elsewhere(place)).SerializeToString())
    with pytest.raises(ModelError, match=r"clip\.onnx keeps weights in other files"):
        read_onnx(path)


def test_custom_operators_are_refused(tmp_path):
    node = helper.make_node("Steal", ["vectors"], ["stolen"], domain="evil.example")
    path = tmp_path / "clip.onnx"
    path.write_bytes(tiny_model(nodes=[node], domains=["evil.example"]).SerializeToString())
    with pytest.raises(ModelError, match=r"clip\.onnx needs the custom operator 'Steal'"):
        read_onnx(path)


def test_loops_are_refused_even_inside_branches(tmp_path):
    loop = helper.make_node(
        "Loop", ["", "", "vectors"], ["again"], body=helper.make_graph([], "b", [], [])
    )
    branch = helper.make_graph([loop], "branch", [], [])
    node = helper.make_node("If", ["yes"], ["result"], then_branch=branch, else_branch=branch)
    path = tmp_path / "clip.onnx"
    path.write_bytes(tiny_model(nodes=[node]).SerializeToString())
    with pytest.raises(ModelError, match=r"clip\.onnx contains a loop"):
        read_onnx(path)
