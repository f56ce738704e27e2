"""A folded network as an ONNX graph, in memory."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from samovar.encoders.folded_network import Block, Convolution, FoldedNetwork, same_padding

OPSET = 17
IR_VERSION = 8
"""Old enough for any ONNX Runtime of the last years."""


class NodeWriter:
    """Collects nodes and constants; each method returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output."""
        output = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, name: str, values: NDArray[Any]) -> str:
        """Add a constant."""
        self.constants.append(numpy_helper.from_array(values, name))
        return name


class _NetworkWriter(NodeWriter):
    """Collects the nodes of a network."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        """Height and width at this point of the graph."""

    def convolution(self, value: str, convolution: Convolution) -> str:
        """Add a convolution, and ReLU6 if it has one."""
        before, after = same_padding(self.size, convolution.kernel, convolution.stride)
        number = len(self.nodes)
        value = self.add(
            "Conv",
            value,
            self.constant(f"weight_{number}", convolution.weight.numpy()),
            self.constant(f"bias_{number}", convolution.bias.numpy()),
            kernel_shape=[convolution.kernel] * 2,
            strides=[convolution.stride] * 2,
            group=convolution.groups,
            pads=[before, before, after, after],
        )
        self.size = -(-self.size // convolution.stride)
        if convolution.relu6:
            value = self.add("Clip", value, "zero", "six")
        return value

    def block(self, value: str, block: Block) -> str:
        """Add the convolutions of a block, and its input if it is residual."""
        start = value
        for convolution in block.convolutions:
            value = self.convolution(value, convolution)
        if block.residual:
            value = self.add("Add", value, start)
        return value


def onnx_graph(network: FoldedNetwork, name: str) -> bytes:
    """Return a model from `images` (n, 3, size, size) to `vectors` (n, length), serialised."""
    writer = _NetworkWriter(network.size)
    writer.constant("zero", np.array(0, np.float32))
    writer.constant("six", np.array(6, np.float32))
    value = "images"
    for block in network.blocks:
        value = writer.block(value, block)
    value = writer.add("GlobalAveragePool", value)
    writer.nodes.append(helper.make_node("Flatten", [value], ["vectors"]))
    shape_in: list[str | int | None] = ["n", 3, network.size, network.size]
    shape_out: list[str | int | None] = ["n", network.length]
    graph = helper.make_graph(
        writer.nodes,
        name,
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, shape_in)],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, shape_out)],
        writer.constants,
    )
    opsets = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    content: bytes = model.SerializeToString()
    return content
