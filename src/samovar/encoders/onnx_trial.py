"""A trial of an ONNX model, run as a program of its own by `onnx_probe`.

    python -m samovar.encoders.onnx_trial SIDE BYTES SECONDS < MODEL

ONNX Runtime is a large program in C++ that may crash on a hostile model, or take all memory, or
never come back. Here that happens to a process which nobody needs. It may have so many bytes of
memory and seconds of processor time, where the system can limit them. It prints JSON: what error
ONNX Runtime had with the model and test images, or null. Nothing heavy is imported: it starts in a
tenth of a second.
"""

import contextlib
import json
import os
import sys
from typing import Any

import numpy as np
import onnxruntime

ONLY_FATAL = 4
LARGEST_SIDE = 2048
"""Pixels. `onnx_encoder` refuses models that want more, so they are not run here."""
LONGEST_MESSAGE = 2000
STACK = 4 * 2**20
"""Bytes: half of what is usual, so that what passes here has room to spare elsewhere."""


def limit_resources(memory: int, seconds: int) -> None:
    """Limit memory and processor time of this process, where the system can."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    wanted = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_STACK: STACK,
        resource.RLIMIT_CORE: 0,  # a crash leaves no file behind
    }
    for kind, value in wanted.items():
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        with contextlib.suppress(ValueError, OSError):  # macOS cannot limit memory
            resource.setrlimit(kind, (value, hard))


def try_model(content: bytes, side: int) -> None:
    """Run a model on one image, and on two if it takes any number of them.

    A model whose input is not images is only loaded. `side` is used where it takes any size.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = ONLY_FATAL
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    if len(inputs) != 1 or inputs[0].type != "tensor(float)" or len(inputs[0].shape) != 4:
        return
    batch, channels, height, width = (_number(size) for size in inputs[0].shape)
    shape = (channels or 3, height or side, width or side)
    if shape[0] != 3 or max(shape) > LARGEST_SIDE or batch not in (1, None):
        return
    images = np.random.default_rng(0).random((2, *shape), np.float32) - np.float32(0.5)
    session.run(None, {inputs[0].name: images[:1]})
    if batch is None:
        session.run(None, {inputs[0].name: images})


def _number(size: Any) -> int | None:
    """Return a dimension; None for one that has a name or nothing at all."""
    if isinstance(size, int) and size > 0:
        return size
    return None


def main() -> None:
    """Read a model from standard input, try it, and print what went wrong."""
    # Whatever ONNX Runtime prints must not get into the JSON.
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    side, memory, seconds = (int(argument) for argument in sys.argv[1:])
    limit_resources(memory, seconds)
    error: str | None = None
    try:
        try_model(sys.stdin.buffer.read(), side)
    except BaseException as caught:  # ONNX Runtime's errors have no common base
        error = (str(caught).strip() or type(caught).__name__)[:LONGEST_MESSAGE]
    with report:
        json.dump({"error": error}, report)


if __name__ == "__main__":
    main()
