"""A convolutional network as a list of layers, with batch norm folded into the convolutions.

This is all that the engines need to know of a network: it is built once from the weights, and
run by torch (`TorchEngine`) or as an ONNX graph (`onnx_graph`).
"""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Convolution:
    """A convolution with a bias, padded as TensorFlow pads ("same"), and perhaps ReLU6 after it."""

    weight: torch.Tensor
    """(channels out, channels in / groups, kernel, kernel)."""
    bias: torch.Tensor
    stride: int = 1
    groups: int = 1
    relu6: bool = True

    @property
    def kernel(self) -> int:
        """Height and width of the kernel."""
        return self.weight.shape[-1]


@dataclass(frozen=True)
class Block:
    """Convolutions in a row, whose input is added to their output if `residual`."""

    convolutions: tuple[Convolution, ...]
    residual: bool = False


@dataclass(frozen=True)
class FoldedNetwork:
    """Blocks in a row; the vector is the mean of the last one's output over all positions."""

    blocks: tuple[Block, ...]
    size: int
    """Height and width of the input in pixels."""

    @property
    def length(self) -> int:
        """Numbers in a vector."""
        return len(self.blocks[-1].convolutions[-1].bias)


def same_padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """Return the padding before and after: the output has size / stride positions, rounded up.

    >>> same_padding(224, 3, 2)  # where the sum is odd, TensorFlow pads more at the end
    (0, 1)
    """
    positions = -(-size // stride)
    total = max((positions - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def fold(
    weight: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor, moments: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Fold a batch norm into the convolution before it; return weight and bias.

    `moments` (2, channels) are the running mean and the standard deviation. In double precision,
    so that folding costs no accuracy.
    """
    mean, deviation = moments.double()
    factor = scale.double() / deviation
    folded = weight.double() * factor[:, None, None, None]
    bias = shift.double() - mean * factor
    return folded.float(), bias.float()
