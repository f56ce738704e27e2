"""What runs a network: ONNX Runtime, or torch for comparison.

ONNX Runtime is several times faster than torch on a CPU (docs/encoders.md has the measurement).
"""

import threading
from typing import Any, Protocol

import numpy as np
import onnxruntime
import torch
from numpy.typing import NDArray
from torch.nn import functional

from samovar.encoders.folded_network import Block, Convolution, FoldedNetwork, same_padding

GPU = "CUDAExecutionProvider"
CPU = "CPUExecutionProvider"
ONLY_FATAL = 4
"""ONNX Runtime's log level: its errors reach us as exceptions, its warnings are not for users."""


class Engine(Protocol):
    """Runs a network on batches; several threads may call it at once."""

    on_gpu: bool

    def run(self, images: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the vectors (n, length) of images (n, 3, H, W)."""


class OnnxEngine:
    """Runs a serialised ONNX model by ONNX Runtime, on a GPU where its provider is installed.

    Give `threads=1` if several threads call it at once, which uses the cores best. With more,
    calls follow one another, and each has all these threads.
    """

    def __init__(self, model: bytes, threads: int, output: str | None = None) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = ONLY_FATAL
        # Threads that spin while they wait take the cores from those that decode images.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = _session(model, options)
        self.on_gpu = GPU in self.session.get_providers()
        self.output = output
        """The name of the output to return; None is the first one."""
        self._input: str = self.session.get_inputs()[0].name
        self._turn = threading.Semaphore(1 if threads > 1 else 1024)

    def run(self, images: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the vectors (n, length) of images (n, 3, H, W)."""
        outputs = None if self.output is None else [self.output]
        vectors: NDArray[np.float32] = self.run_all(images, outputs)[0]
        return vectors

    def run_all(self, images: NDArray[np.float32], outputs: list[str] | None = None) -> list[Any]:
        """Return the outputs of these names, or all outputs."""
        with self._turn:
            results: list[Any] = self.session.run(outputs, {self._input: images})
            return results


def _session(model: bytes, options: onnxruntime.SessionOptions) -> onnxruntime.InferenceSession:
    """Return a session on the GPU if that works, else on the CPU."""
    available = onnxruntime.get_available_providers()
    providers = [name for name in (GPU, CPU) if name in available]
    # ONNX Runtime's own way of falling back prints to standard output.
    quiet = {"enable_fallback": 0}
    try:
        return onnxruntime.InferenceSession(model, options, providers=providers, **quiet)
    except Exception:
        if GPU not in providers:
            raise
        return onnxruntime.InferenceSession(model, options, providers=[CPU], **quiet)


class TorchEngine:
    """Runs a folded network by torch, on the CPU, with channels last."""

    on_gpu = False

    def __init__(self, network: FoldedNetwork) -> None:
        self.network = network
        # torch uses all cores for one call already.
        self._turn = threading.Lock()

    @torch.inference_mode()
    def run(self, images: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the vectors (n, length) of images (n, 3, H, W)."""
        with self._turn:
            values = torch.from_numpy(images).to(memory_format=torch.channels_last)
            for block in self.network.blocks:
                values = _run_block(values, block)
            vectors: NDArray[np.float32] = values.mean((2, 3)).numpy()
            return vectors


def _run_block(values: torch.Tensor, block: Block) -> torch.Tensor:
    start = values
    for convolution in block.convolutions:
        values = _convolve(values, convolution)
    return values + start if block.residual else values


def _convolve(values: torch.Tensor, convolution: Convolution) -> torch.Tensor:
    before, after = same_padding(values.shape[-1], convolution.kernel, convolution.stride)
    padding = before
    if before != after:  # only pad() can pad the two ends differently
        values = functional.pad(values, (before, after, before, after))
        padding = 0
    values = functional.conv2d(
        values,
        convolution.weight,
        convolution.bias,
        stride=convolution.stride,
        padding=padding,
        groups=convolution.groups,
    )
    return values.clamp_(0, 6) if convolution.relu6 else values
