"""An ONNX file that somebody gives us, read with suspicion.

Everything that can be seen without running the network is checked here: the size of the file,
that it is ONNX, that it needs no other files and no operators that ONNX Runtime does not have.
"""

import stat
from collections.abc import Iterator
from pathlib import Path

import onnx
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto

from samovar.errors import ModelError

LARGEST_MODEL = 2**31 - 1
"""Bytes; larger ONNX models keep their weights in other files."""
DOMAINS = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft")
"""Operators that ONNX Runtime has; others come from libraries, which would be run as code."""
ENDLESS = ("Loop", "Scan")
"""Operators that may run forever; no image encoder needs them."""


def read_onnx(path: Path) -> bytes:
    """Return the bytes of an ONNX file that is safe to give to ONNX Runtime."""
    content = _read(path)
    try:
        model = onnx.load_model_from_string(content)
    except Exception as error:  # protobuf's errors have no common base
        raise ModelError(f"{path} is not an ONNX file, or is damaged ({error}).") from error
    if not model.graph.node or not model.graph.output:
        raise ModelError(f"{path} is not an ONNX file with a network inside.")
    own_functions = {function.domain for function in model.functions}
    for node in _model_nodes(model):
        _check_node(node, path, own_functions)
    for tensor in _tensors(model):
        if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
            raise ModelError(
                f"{path} keeps weights in other files, which is not supported. Save it as one "
                "file: onnx.save(onnx.load(PATH), NEW_PATH)."
            )
    return content


def _read(path: Path) -> bytes:
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            raise ModelError(f"The encoder {path} is not a file.")
        if state.st_size > LARGEST_MODEL:
            raise ModelError(
                f"{path} has {state.st_size:,} bytes; an ONNX file has at most {LARGEST_MODEL:,}."
            )
        return path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"The encoder {path} cannot be read: {error.strerror or error}."
        ) from error


def _check_node(node: NodeProto, path: Path, own_functions: set[str]) -> None:
    if node.domain not in DOMAINS and node.domain not in own_functions:
        raise ModelError(
            f"{path} needs the custom operator {node.op_type!r} of {node.domain!r}, which is not "
            "supported. Export it with standard operators only."
        )
    if node.op_type in ENDLESS:
        raise ModelError(
            f"{path} contains a loop (the operator {node.op_type}), which is not supported. "
            "Export the network without loops."
        )


def _model_nodes(model: onnx.ModelProto) -> Iterator[NodeProto]:
    """Yield all nodes, also those of functions and of graphs inside nodes."""
    waiting: list[NodeProto] = list(model.graph.node)
    for function in model.functions:
        waiting += function.node
    while waiting:
        node = waiting.pop()
        yield node
        for graph in _inner_graphs(node):
            waiting += graph.node


def _inner_graphs(node: NodeProto) -> Iterator[GraphProto]:
    """Yield the graphs inside a node, whatever type its attributes claim to have."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _tensors(model: onnx.ModelProto) -> Iterator[TensorProto]:
    """Yield all tensors: the constants of every graph, and those inside nodes and functions."""
    yield from _constants(model.graph)
    for function in model.functions:
        for attribute in function.attribute_proto:
            yield from _attribute_tensors(attribute)
    for node in _model_nodes(model):
        for graph in _inner_graphs(node):
            yield from _constants(graph)
        for attribute in node.attribute:
            yield from _attribute_tensors(attribute)


def _attribute_tensors(attribute: AttributeProto) -> Iterator[TensorProto]:
    yield attribute.t
    yield from attribute.tensors
    for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
        yield sparse.values
        yield sparse.indices


def _constants(graph: GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield sparse.values
        yield sparse.indices
