"""What grows how: images that are embedded, pieces of an engine, classes of a task. Prints JSON.

    python benchmarks/scale.py --out results/scale.json            # about half an hour on two cores
    python benchmarks/scale.py --draw results/scale.json --picture docs/scaling.png

`embed`: synthetic photographs of 320 x 240 pixels, by one process, in shards of 1,000 images one
after the other, and on Ray; time from the command to the finished file, and the largest memory of
that process. `engines`: what a piece costs that does next to nothing, beyond the
first, whose worker must be started. `task`: a task of `photos` with 5 vectors of each class
(benchmarks/regression_scale.py). `evaluate`: one task of the protocol over as many classes.
"""

import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from PIL import Image

from samovar.cli.main import main as samovar
from samovar.cluster.engine import run_pieces
from samovar.cluster.piece import Piece
from samovar.encoders.image_list import ListedImage
from samovar.encoders.registry import find_encoder
from samovar.encoders.vector_file import VectorFileFacts, write_vectors
from samovar.settings.engine import EngineSettings

SHARD = 1000
DISTINCT = 200
"""Photographs that are drawn; the files are copies of them with different ends."""
SHOTS = 5
QUERIES = 1
LENGTH = 1280


@dataclass
class Arguments:
    """What to measure."""

    parts: tuple[str, ...] = ("embed", "engines", "task", "evaluate")
    images: tuple[int, ...] = (1_000, 10_000, 100_000)
    ways: tuple[str, ...] = ("one process", "shards, one process", "shards, Ray")
    """How images are embedded."""
    classes: tuple[int, ...] = (10, 100, 1_000, 10_000)
    pieces: int = 40
    out: Path | None = None
    """Keep the JSON here too."""
    draw: Path | None = None
    """Measure nothing; draw the curves of this JSON file."""
    picture: Path = Path("scaling.png")


def draw_photographs(folder: Path, count: int) -> None:
    """Write so many JPEG files, in class folders of a thousand."""
    source = np.random.default_rng(0)
    contents = []
    for _ in range(DISTINCT):
        coarse = source.integers(0, 256, (12, 16, 3), np.uint8)
        picture = Image.fromarray(coarse).resize((320, 240), Image.Resampling.BICUBIC)
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG", quality=90)
        contents.append(buffer.getvalue())
    for number in range(count):
        place = folder / f"class {number // 1000:05}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number:08}.jpg").write_bytes(contents[number % DISTINCT] + b"%d" % number)


def timed_command(*words: str) -> dict[str, Any]:
    """Run `samovar` in a process of its own; return its time, memory and end."""
    program = (
        "import resource, sys; from samovar.cli.main import main; code = main(sys.argv[1:]); "
        "print('peak', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000); sys.exit(code)"
    )
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - began
    measured: dict[str, Any] = {"seconds": round(seconds, 2), "exit_code": done.returncode}
    if done.returncode == 0:
        measured["peak_megabytes"] = int(done.stdout.split("peak ")[-1])
    else:
        measured["end"] = done.stderr.strip().splitlines()[-1:]
    return measured


def measure_embed(arguments: Arguments, folder: Path) -> list[dict[str, Any]]:
    """Embed more and more photographs in three ways."""
    rows = []
    for count in arguments.images:
        photographs = folder / f"photographs{count}"
        draw_photographs(photographs, count)
        shards = ("--shards", str(count // SHARD), "--logs", str(folder / "logs"))
        ways = {
            "one process": ("--no-cache",),
            "shards, one process": shards,
            "shards, Ray": (*shards, "--ray", "local"),
        }
        for way in arguments.ways:
            out = folder / f"{count}-{len(rows)}.npz"
            words = ("embed", str(photographs), "--out", str(out), *ways[way])
            rows.append({"images": count, "way": way} | timed_command(*words))
            rows[-1]["images_per_second"] = round(count / rows[-1]["seconds"], 1)
            print(rows[-1], file=sys.stderr, flush=True)
        files = sorted(folder.glob(f"{count}-*.npz"))
        if len({file.read_bytes() for file in files}) > 1:
            raise SystemExit("The files of vectors differ.")
        for file in files:
            file.unlink()
    return rows


def measure_engines(arguments: Arguments, folder: Path) -> list[dict[str, Any]]:
    """Run pieces that do next to nothing."""
    rows = []
    engines = {"here": {}, "ray": {"ray": "local"}, "slurm": {"slurm": "local"}}
    for name, choice in engines.items():
        settings = EngineSettings(logs=folder / "logs", **choice)
        pieces = [Piece(f"{name}-{n}", ("--version",)) for n in range(arguments.pieces)]
        stamps = [time.perf_counter()]

        def stamp(_: str, __: float, stamps: list[float] = stamps) -> None:
            stamps.append(time.perf_counter())

        run_pieces(pieces, samovar, settings, stamp)
        each = (stamps[-1] - stamps[1]) / (len(pieces) - 1)
        row = {"engine": name, "first_seconds": round(stamps[1] - stamps[0], 3)}
        rows.append(row | {"each_further_seconds": round(each, 4)})
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def measure_task(arguments: Arguments) -> list[dict[str, Any]]:
    """Fit tasks of more and more classes."""
    script = Path(__file__).with_name("regression_scale.py")
    rows = []
    for classes in arguments.classes:
        words = ["--classes", str(classes), "--threads", "2", "--shots", str(SHOTS)]
        done = subprocess.run(
            [sys.executable, str(script), *words], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            rows += json.loads(done.stdout)["tasks"]
        else:
            rows.append({"classes": classes, "end": done.stderr.strip().splitlines()[-1:]})
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def write_classes(path: Path, classes: int) -> None:
    """Write vectors around class means, as if an encoder had made them of test images."""
    each = SHOTS + QUERIES
    means = np.random.default_rng(0).normal(size=(classes, LENGTH)).astype(np.float32)
    noise = np.random.default_rng(1).standard_normal((classes, each, LENGTH), np.float32)
    vectors = np.maximum(means[:, None] + noise, 0).reshape(-1, LENGTH)
    images = []
    for number in range(len(vectors)):
        label = f"class {number // each:06}"
        images.append(ListedImage(str(number), label, Path(str(number)), "", split="test"))
    encoder = find_encoder("efficientnet_lite0")
    write_vectors(path, [vectors], images, VectorFileFacts(encoder.to_json(), "synthetic", ()))


def measure_evaluate(arguments: Arguments, folder: Path) -> list[dict[str, Any]]:
    """Evaluate `photos` on one task of all classes."""
    rows = []
    for classes in arguments.classes:
        file = folder / f"classes{classes}.npz"
        write_classes(file, classes)
        shape = ("--way", str(classes), "--shot", str(SHOTS), "--queries", str(QUERIES))
        flags = ("--episodes", "1", "--no-temperature", "--out", str(folder / str(classes)))
        measured = timed_command("evaluate", "photos", "--data", str(file), *shape, *flags)
        rows.append({"classes": classes} | measured)
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def draw(file: Path, picture: Path) -> None:
    """Draw the curves: images per second, and the time and memory of a task over classes."""
    from matplotlib.figure import Figure

    from samovar.reporting.figures.style import BLUE, GREEN, VERMILION, png

    measured = json.loads(file.read_text())
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    ways = ("one process", "shards, one process", "shards, Ray")
    for way, colour in zip(ways, (BLUE, GREEN, VERMILION), strict=True):
        rows = [row for row in measured["embed"] if row["way"] == way]
        seconds = [row["seconds"] for row in rows]
        left.loglog([row["images"] for row in rows], seconds, "o-", color=colour, label=way)
    left.set(xlabel="photographs", ylabel="seconds", title="samovar embed")
    left.legend(frameon=False, fontsize=8)
    fitted = [row for row in measured["task"] if "fit_seconds" in row]
    evaluated = [row for row in measured["evaluate"] if row["exit_code"] == 0]
    classes = [row["classes"] for row in fitted]
    middle.loglog(classes, [row["fit_seconds"] for row in fitted], "o-", color=BLUE, label="fit")
    thousand = [row["thousand_answers_seconds"] for row in fitted]
    middle.loglog(classes, thousand, "o-", color=GREEN, label="1000 answers")
    ways_of_tasks = [row["classes"] for row in evaluated]
    seconds = [row["seconds"] for row in evaluated]
    middle.loglog(ways_of_tasks, seconds, "o-", color=VERMILION, label="evaluate, one task")
    middle.set(xlabel="classes, 5 images each", ylabel="seconds", title="a task")
    middle.legend(frameon=False, fontsize=8)
    memory = [row["peak_megabytes"] / 1000 for row in fitted]
    right.loglog(classes, memory, "o-", color=BLUE, label="fit")
    memory = [row["peak_megabytes"] / 1000 for row in evaluated]
    right.loglog(ways_of_tasks, memory, "o-", color=VERMILION, label="evaluate, one task")
    right.set(xlabel="classes, 5 images each", ylabel="GB", title="largest memory")
    right.legend(frameon=False, fontsize=8)
    picture.write_bytes(png(figure))


def main() -> None:
    """Measure and print, or draw."""
    arguments = tyro.cli(Arguments, description=__doc__)
    if arguments.draw is not None:
        draw(arguments.draw, arguments.picture)
        return
    results: dict[str, Any] = {"cores": os.cpu_count(), "load": os.getloadavg()[0]}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    results["memory_gigabytes"] = round(memory / 1e9, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measures: dict[str, Callable[[], Any]] = {
            "embed": lambda: measure_embed(arguments, folder),
            "engines": lambda: measure_engines(arguments, folder),
            "task": lambda: measure_task(arguments),
            "evaluate": lambda: measure_evaluate(arguments, folder),
        }
        for part in arguments.parts:
            results[part] = measures[part]()
    text = json.dumps(results, indent=1)
    print(text)
    if arguments.out is not None:
        arguments.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
