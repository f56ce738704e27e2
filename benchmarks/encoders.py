"""Encoders: images per second of both engines, alone and with decoding. Prints JSON.

    python benchmarks/encoders.py [--images FOLDER_OR_ZIP] [--encoder efficientnet_lite0]

1. The network alone, on inputs in memory: ONNX Runtime as it comes, and folded torch, with one and
two threads and batches of 1, 8 and 32. 2. End to end, from the bytes of JPEG files to vectors, by
the encoder as it is used, with one and two threads. 3. Photographs of 12 megapixels, decoded at
reduced scale and in full. All are measured in turns, several times; the median is given, so that
other work on the machine falls on all alike. Without --images the images are synthetic. 4. The
model `photos` with a task of 5 x 5 photographs: the median of 20 answers to one photograph by
`FewShotClassifier.predict` in a process that is running already, and of 5 by the command `samovar
predict`, from its start to its end.
"""

import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnxruntime
import torch
import tyro
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from samovar.classifier.estimator import FewShotClassifier
from samovar.data.images.pictures import ImageFile, decode_picture
from samovar.encoders.efficientnet_lite import LITE0, LITE2, EfficientNetLite, folded_network
from samovar.encoders.engines import TorchEngine
from samovar.encoders.image_list import list_images
from samovar.encoders.onnx_graph import onnx_graph

BATCHES = (1, 8, 32)
THREADS = (1, 2)
IMAGES = 96
"""Images of one measurement."""
PHOTOGRAPHS = {"640 x 480": (640, 480), "3000 x 2000": (3000, 2000)}
"""Sizes of photographs that are answered one at a time."""


@dataclass(frozen=True)
class Measurement:
    """Something that is timed: a function that works on a number of images."""

    name: str
    work: Callable[[], Any]
    images: int = IMAGES


def synthetic_jpeg(width: int, height: int, seed: int) -> bytes:
    """Return a photograph-like JPEG: blurred noise, which has structure at several scales."""
    noise = np.random.default_rng(seed).integers(0, 256, (height // 4, width // 4, 3), np.uint8)
    picture = Image.fromarray(noise).filter(ImageFilter.GaussianBlur(2)).resize((width, height))
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def in_memory(contents: list[bytes]) -> list[ImageFile]:
    """Return files whose bytes are in memory, so that no disk is measured."""

    def file(number: int, content: bytes) -> ImageFile:
        return ImageFile(f"image {number}", lambda: content)

    return [file(number, content) for number, content in enumerate(contents)]


def small_images(root: Path | None) -> list[ImageFile]:
    """Return the images to encode."""
    if root is None:
        return in_memory([synthetic_jpeg(340, 256, seed) for seed in range(IMAGES)])
    listed = list_images(root)
    chosen = listed[:: max(1, len(listed) // IMAGES)][:IMAGES]
    return in_memory([image.file.read() for image in chosen])


def onnx_session(model: bytes, threads: int) -> onnxruntime.InferenceSession:
    """Return a session with ONNX Runtime's own defaults but for the number of threads."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def network_measurements(variant: Any, inputs: NDArray[np.float32]) -> list[Measurement]:
    """Return the measurements of the network alone."""
    network = folded_network(variant)
    model = onnx_graph(network, variant.name)
    engine = TorchEngine(network)

    def run_onnx(session: onnxruntime.InferenceSession, batch: int) -> None:
        for start in range(0, len(inputs), batch):
            session.run(None, {"images": inputs[start : start + batch]})

    def run_torch(threads: int, batch: int) -> None:
        torch.set_num_threads(threads)
        for start in range(0, len(inputs), batch):
            engine.run(inputs[start : start + batch])

    measurements = []
    for threads in THREADS:
        session = onnx_session(model, threads)
        for batch in BATCHES:
            measurements.append(
                Measurement(
                    f"network onnx threads {threads} batch {batch}",
                    lambda session=session, batch=batch: run_onnx(session, batch),
                )
            )
            measurements.append(
                Measurement(
                    f"network torch threads {threads} batch {batch}",
                    lambda threads=threads, batch=batch: run_torch(threads, batch),
                )
            )
    return measurements


def end_to_end_measurements(variant: Any, files: list[ImageFile]) -> list[Measurement]:
    """Return the measurements from the bytes of files to vectors."""
    engines: tuple[Literal["onnx", "torch"], ...] = ("onnx", "torch")
    measurements = []
    for engine in engines:
        encoder = EfficientNetLite(variant, engine)

        def work(encoder: EfficientNetLite, threads: int) -> None:
            torch.set_num_threads(threads)
            encoder.workers = threads
            encoder.encode(files)

        for threads in THREADS:
            measurements.append(
                Measurement(
                    f"end to end {engine} threads {threads}",
                    lambda encoder=encoder, threads=threads: work(encoder, threads),
                )
            )
    return measurements


def large_measurements(variant: Any) -> list[Measurement]:
    """Return the measurements of decoding photographs of 12 megapixels."""
    content = synthetic_jpeg(4032, 3024, 0)
    least = 2 * variant.preprocessing.resize
    return [
        Measurement(
            "decode 12 megapixels at reduced scale",
            lambda: decode_picture(content, "large", least),
            1,
        ),
        Measurement(
            "decode 12 megapixels in full", lambda: decode_picture(content, "large", None), 1
        ),
    ]


def measure(measurements: list[Measurement], rounds: int) -> dict[str, float]:
    """Return the median images per second of each, measured in turns."""
    rates: dict[str, list[float]] = {measurement.name: [] for measurement in measurements}
    for number in range(rounds + 1):
        for measurement in measurements:
            started = time.perf_counter()
            measurement.work()
            seconds = time.perf_counter() - started
            if number > 0:  # the first round warms up
                rates[measurement.name].append(measurement.images / seconds)
    return {name: round(statistics.median(values), 1) for name, values in rates.items()}


def median_milliseconds(work: Callable[[], Any], times: int) -> float:
    """Return the median time of something that was done once before."""
    work()
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return round(1000 * statistics.median(seconds), 1)


def answer_times() -> dict[str, float]:
    """Return the milliseconds that one answer of the model `photos` takes."""
    support = [Image.open(io.BytesIO(synthetic_jpeg(340, 256, seed))) for seed in range(25)]
    classifier = FewShotClassifier(reject=0.05).fit(support, [seed // 5 for seed in range(25)])
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / "task.safetensors"
        classifier.save(task)
        for name, (width, height) in PHOTOGRAPHS.items():
            photo = Path(folder) / f"{name}.jpg"
            photo.write_bytes(synthetic_jpeg(width, height, 99))
            command = [sys.executable, "-m", "samovar", "predict", str(task), str(photo)]
            times[f"running process, {name}"] = median_milliseconds(
                lambda photo=photo: classifier.predict([photo]), 20
            )
            times[f"command, {name}"] = median_milliseconds(
                lambda command=command: subprocess.run(command, capture_output=True, check=True), 5
            )
    return times


def ratios(rates: dict[str, float]) -> dict[str, float]:
    """Return what the numbers are compared by."""
    result = {}
    for threads in THREADS:
        own = [rates[f"network onnx threads {threads} batch {batch}"] for batch in BATCHES]
        torch_own = [rates[f"network torch threads {threads} batch {batch}"] for batch in BATCHES]
        whole = rates[f"end to end onnx threads {threads}"]
        result[f"onnx / torch, network, threads {threads}"] = max(own) / max(torch_own)
        result[f"end to end / best network, threads {threads}"] = whole / max(own)
        result[f"end to end / network of batch 32, threads {threads}"] = whole / own[-1]
    return {name: round(ratio, 2) for name, ratio in result.items()}


def main(
    images: Path | None = None,
    encoder: Literal["efficientnet_lite0", "efficientnet_lite2"] = "efficientnet_lite0",
    rounds: int = 5,
) -> None:
    """Measure and print JSON.

    Args:
        images: A folder or zip archive of images; synthetic ones if not given.
        encoder: Which encoder.
        rounds: How often each measurement is repeated.
    """
    variant = LITE0 if encoder == "efficientnet_lite0" else LITE2
    files = small_images(images)
    measured = EfficientNetLite(variant)
    pictures = [decode_picture(file.read(), file.name) for file in files]
    inputs = np.stack([measured.prepare(picture) for picture in pictures])
    measurements = network_measurements(variant, inputs)
    measurements += end_to_end_measurements(variant, files)
    measurements += large_measurements(variant)
    rates = measure(measurements, rounds)
    facts = {
        "encoder": encoder,
        "cores": os.cpu_count(),
        "load": [round(load, 1) for load in os.getloadavg()],
        "onnxruntime": onnxruntime.__version__,
        "torch": torch.__version__,
        "images per second": rates,
        "ratios": ratios(rates),
        "milliseconds of one answer": answer_times(),
    }
    print(json.dumps(facts, indent=1))


if __name__ == "__main__":
    tyro.cli(main)
