"""A tiny encoder as an ONNX file, and pictures to encode."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

SIZE = 16
LENGTH = 5
PREPROCESSING = {
    "size": SIZE,
    "resize": 20,
    "mean": [0.5, 0.5, 0.5],
    "std": [0.25, 0.25, 0.25],
}


def tiny_model(
    shape: Sequence[Any] = ("n", 3, SIZE, SIZE),
    kind: int = TensorProto.FLOAT,
    nodes: Sequence[Any] = (),
    outputs: Sequence[tuple[str, Sequence[Any]]] = (("vectors", ("n", LENGTH)),),
    domains: Sequence[str] = (),
) -> Any:
    """A convolution and a mean over positions; `nodes` come after them."""
    weight = np.random.default_rng(0).normal(size=(LENGTH, 3, 3, 3)).astype(np.float32)
    body = [
        helper.make_node("Conv", ["images", "weight"], ["maps"], strides=[2, 2]),
        helper.make_node("Relu", ["maps"], ["positive"]),
        helper.make_node("GlobalAveragePool", ["positive"], ["pool"]),
        helper.make_node("Flatten", ["pool"], ["vectors"]),
        *nodes,
    ]
    graph = helper.make_graph(
        body,
        "tiny",
        [helper.make_tensor_value_info("images", kind, shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, form) for name, form in outputs],
        [numpy_helper.from_array(weight, "weight")],
    )
    opsets = [helper.make_opsetid("", 17)]
    opsets += [helper.make_opsetid(domain, 1) for domain in domains]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def write_tiny(path: Path, model: Any = None, preprocessing: Any = PREPROCESSING) -> Path:
    """Write the ONNX file, and its preprocessing beside it."""
    path.write_bytes((model or tiny_model()).SerializeToString())
    if preprocessing is not None:
        path.with_suffix(".json").write_text(json.dumps(preprocessing))
    return path


def picture(seed: int, size: tuple[int, int] = (30, 24)) -> Image.Image:
    """A smooth random picture."""
    noise = np.random.default_rng(seed).integers(0, 256, (6, 6, 3), np.uint8)
    return Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC)


def jpeg(image: Image.Image, **options: Any) -> bytes:
    """The bytes of a JPEG file."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", **options)
    return buffer.getvalue()


def photo_folder(root: Path, classes: int = 3, images: int = 4) -> Path:
    """Class folders of PNG pictures."""
    for number in range(classes):
        folder = root / f"class {number}"
        folder.mkdir(parents=True)
        for position in range(images):
            picture(100 * number + position).save(folder / f"{position}.png")
    return root
