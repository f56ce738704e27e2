"""Any encoder that a user has as an ONNX file: CLIP, DINOv2, SigLIP and others.

The file says what shapes it takes, but not how its images were prepared. That comes from a JSON
file beside it (`clip.json` or `clip.onnx.json`) or from the user. Before it is used, the network
is tried on a test image, alone and in a batch of two: in a process of its own if the file was never
seen before, and then here.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from samovar.core.randomness import generator
from samovar.encoders.base import CORES, Encoder, EncoderGraph, identity_of
from samovar.encoders.engines import OnnxEngine
from samovar.encoders.onnx_file import read_onnx
from samovar.encoders.onnx_probe import probe
from samovar.encoders.preprocessing import (
    EXAMPLE,
    LARGEST_SIDE,
    NAMED,
    Preprocessing,
    encoder_input,
    read_preprocessing,
)
from samovar.errors import ModelError, SamovarError, SettingsError

LONGEST_VECTOR = 65_536
BATCH_PIXELS = 16 * 224 * 224
"""Pixels of the images that the network is given at once on a CPU; four times as many on a GPU."""
MOST_AT_ONCE = 64
"""Images that the network is given at once, however small they are."""
TOLERANCE = 1e-2
"""How far the vector of an image may differ when another is in its batch, relative to its norm."""


class OnnxEncoder(Encoder):
    """An encoder from an ONNX file.

    With `remember=False` nothing about the file is kept in the cache.
    """

    def __init__(
        self,
        path: Path,
        preprocessing: Preprocessing | str | None = None,
        *,
        remember: bool = True,
    ) -> None:
        content = read_onnx(path)
        probe(content, path, _side(path, preprocessing), remember=remember)
        self.name = path.name
        self.file = path
        try:
            self._engine = OnnxEngine(content, threads=CORES)
            shape = _input_shape(self._engine, path)
            self.preprocessing: Preprocessing = _preprocessing(path, preprocessing, shape[2])
            _check_size(path, shape, self.preprocessing)
            output, self.length = _try_out(self._engine, path, shape, self.preprocessing)
        except SamovarError:
            raise
        except Exception as error:  # ONNX Runtime's errors have no common base
            raise ModelError(
                f"{path} cannot be run by ONNX Runtime: {_first_line(error)}"
            ) from error
        self._engine.output = output
        self.batch = _batch(shape[0], self.preprocessing.size, self._engine.on_gpu)
        self.identity = identity_of(
            file=hashlib.sha256(content).hexdigest(),
            output=output,
            preprocessing=self.preprocessing.to_json(),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to another process as the path of the file, which is read there."""
        return OnnxEncoder, (self.file, self.preprocessing)

    def prepare(self, picture: Image.Image) -> NDArray[np.float32]:
        """Return the input (3, size, size) of the network."""
        return encoder_input(picture, self.preprocessing)

    def run(self, prepared: Sequence[Any]) -> NDArray[np.float32]:
        """Return the vectors (n, length)."""
        images = np.stack(prepared)
        try:
            return self._engine.run(images)
        except Exception as error:  # ONNX Runtime's errors have no common base
            raise ModelError(f"The encoder {self.name} failed: {_first_line(error)}") from error

    def graph(self) -> EncoderGraph:
        """Return the network as an ONNX model: the content of its file."""
        assert self.file is not None
        assert self._engine.output is not None
        name: str = self._engine.session.get_inputs()[0].name
        return EncoderGraph(read_onnx(self.file), name, self._engine.output)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]


def _input_shape(engine: OnnxEngine, path: Path) -> list[int | None]:
    """Return the shape (n, 3, H, W) of the only input, with None where any number will do."""
    inputs = engine.session.get_inputs()
    if len(inputs) != 1:
        names = ", ".join(node.name for node in inputs)
        raise ModelError(
            f"{path} must have one input, the images, but has {len(inputs)} ({names}). Export "
            "the part of the network that encodes images."
        )
    node = inputs[0]
    # A dimension is a number, or a name, or None.
    shape = [number if isinstance(number, int) else None for number in node.shape]
    if node.type != "tensor(float)" or len(shape) != 4 or shape[1] not in (3, None):
        raise ModelError(
            f"{path} must take images as float32 of the shape (N, 3, H, W), but its input "
            f"{node.name!r} is {node.type} of the shape {node.shape}."
        )
    if shape[0] not in (1, None):
        raise ModelError(
            f"{path} takes batches of exactly {shape[0]} images. Export it with a dynamic batch "
            "size, or for one image."
        )
    sides = [side for side in shape[2:] if side is not None]
    if not all(1 <= side <= LARGEST_SIDE for side in sides):
        raise ModelError(
            f"{path} takes images of {shape[2]} x {shape[3]} pixels; at most {LARGEST_SIDE} are "
            "supported."
        )
    return shape


def _side(path: Path, chosen: Preprocessing | str | None) -> int:
    """Return the pixels of the images that a network gets which takes any size."""
    return _preprocessing(path, chosen, None).size


def _preprocessing(
    path: Path, chosen: Preprocessing | str | None, side: int | None
) -> Preprocessing:
    """Return the preprocessing that the user chose, or that lies beside the file."""
    if isinstance(chosen, Preprocessing):
        return chosen
    if chosen is not None:
        return named_preprocessing(chosen, side)
    for beside in (path.with_suffix(".json"), path.with_name(f"{path.name}.json")):
        if beside.is_file():
            return read_preprocessing(beside)
    raise ModelError(
        f"How images are prepared for {path} is not known. Say so with --preprocessing "
        f"({', '.join(NAMED)} or a JSON file), or put a file {path.with_suffix('.json').name} "
        f"beside it, such as {EXAMPLE}."
    )


def named_preprocessing(choice: str, side: int | None = None) -> Preprocessing:
    """Return a preprocessing by name, for images of `side` pixels, or from a JSON file."""
    if choice in NAMED:
        return NAMED[choice](side or 224)
    path = Path(choice)
    if not path.is_file():
        raise SettingsError(
            f"The preprocessing is {', '.join(NAMED)} or a JSON file, but {choice!r} was given."
        )
    return read_preprocessing(path)


def _check_size(path: Path, shape: list[int | None], preprocessing: Preprocessing) -> None:
    for side in shape[2:]:
        if side not in (preprocessing.size, None):
            raise ModelError(
                f"{path} takes images of {shape[2]} x {shape[3]} pixels, but its preprocessing "
                f"makes them {preprocessing.size} x {preprocessing.size}."
            )


def _try_out(
    engine: OnnxEngine, path: Path, shape: list[int | None], preprocessing: Preprocessing
) -> tuple[str, int]:
    """Run the network on test images; return the name of the output, and its length."""
    size = preprocessing.size
    noise = generator(0, "test images of an encoder").random((2, 3, size, size))
    images = (noise - 0.5).astype(np.float32)
    names = [node.name for node in engine.session.get_outputs()]
    single = dict(zip(names, engine.run_all(images[:1]), strict=True))
    name = _vector_output(single, path)
    vector = single[name]
    if not np.isfinite(vector).all():
        raise ModelError(f"{path} gives numbers that are not finite for a test image.")
    if shape[0] is None:
        pair = dict(zip(names, engine.run_all(images), strict=True))
        _check_pair(path, vector, pair[name])
    return name, vector.shape[1]


def _vector_output(outputs: dict[str, Any], path: Path) -> str:
    """Return the name of the only output that is one vector per image."""
    suitable = []
    for name, values in outputs.items():
        shape: tuple[int, ...] = getattr(values, "shape", ())
        if len(shape) == 2 and shape[0] == 1 and values.dtype in (np.float32, np.float64):
            suitable.append(name)
    if len(suitable) != 1:
        shapes = [f"{name} {_form(values)}" for name, values in outputs.items()]
        raise ModelError(
            f"{path} must have exactly one output with a vector for each image, (N, length) "
            f"float, but for one image it gives: {', '.join(shapes)}."
        )
    length = outputs[suitable[0]].shape[1]
    if not 1 <= length <= LONGEST_VECTOR:
        raise ModelError(
            f"{path} gives vectors of {length:,} numbers; at most {LONGEST_VECTOR:,} are supported."
        )
    return suitable[0]


def _form(values: Any) -> str:
    """Return shape and type of an output, which may be something else than an array."""
    if not isinstance(values, np.ndarray):
        return type(values).__name__
    return f"{values.shape} {values.dtype}"


def _check_pair(path: Path, vector: NDArray[Any], pair: NDArray[Any]) -> None:
    """Refuse a network whose vector of an image depends on the batch that the image is in."""
    same = pair.shape == (2, vector.shape[1])
    if same:
        alone = vector[0].astype(np.float64)
        distance = np.linalg.norm(pair[0] - alone)
        same = bool(distance <= TOLERANCE * np.linalg.norm(alone) + 1e-6)
    if not same:
        raise ModelError(
            f"{path} gives other vectors for an image alone than in a batch of two. Export it for "
            "inference, with a dynamic batch size."
        )


def _batch(fixed: int | None, size: int, on_gpu: bool) -> int:
    if fixed is not None:
        return fixed
    pixels = 4 * BATCH_PIXELS if on_gpu else BATCH_PIXELS
    return min(MOST_AT_ONCE, max(1, pixels // (size * size)))
