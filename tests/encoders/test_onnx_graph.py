"""The ONNX graph of a network computes what torch computes."""

import numpy as np
import onnx
import pytest
import torch

from samovar.encoders.engines import OnnxEngine, TorchEngine
from samovar.encoders.folded_network import Block, Convolution, FoldedNetwork
from samovar.encoders.onnx_graph import onnx_graph


def random_network(size: int) -> FoldedNetwork:
    generator = torch.Generator().manual_seed(size)

    def convolution(shape: tuple[int, ...], **options: object) -> Convolution:
        weight = torch.randn(shape, generator=generator)
        return Convolution(weight, torch.randn(shape[0], generator=generator), **options)

    blocks = (
        Block((convolution((4, 3, 3, 3), stride=2),)),
        Block((convolution((4, 1, 5, 5), groups=4), convolution((4, 4, 1, 1), relu6=False)), True),
        Block((convolution((6, 4, 3, 3), stride=2),)),
    )
    return FoldedNetwork(blocks, size)


@pytest.mark.parametrize("size", [8, 11, 16])
def test_graph_and_torch_agree(size):
    network = random_network(size)
    model = onnx_graph(network, "random")
    onnx.checker.check_model(onnx.load_model_from_string(model), full_check=True)
    images = np.random.default_rng(0).normal(size=(3, 3, size, size)).astype(np.float32)
    vectors = OnnxEngine(model, threads=1).run(images)
    assert vectors.shape == (3, 6)
    np.testing.assert_allclose(TorchEngine(network).run(images), vectors, atol=1e-4)
