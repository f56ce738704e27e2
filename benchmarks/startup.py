"""How long one waits: for `samovar predict` on one photograph, and for a second fit in Python.

    python benchmarks/startup.py

Commands are started in turns with a process that only imports torch, so that all meet the same load
of the machine, and their times are divided by its time, round by round. The same task is fitted in
one process with the model loaded before, loaded again for every fit, and built with initial weights
that are overwritten at once, as it was done until version 0.2. Prints JSON with medians; times are
in seconds, those of processes as the user waits for them and as the processor works on them.
"""

import argparse
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
from typing import Any

import numpy as np
from PIL import Image

MODELS = ("photos", "cifar_fs")
"""The default model, and one with a network of its own."""


@dataclass(frozen=True)
class Times:
    """What a process took."""

    wall: float
    processor: float


def timed_process(command: list[str], folder: Path) -> Times:
    """Run a command to its end, whatever its exit code, and return what it took."""
    before = os.times()
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    wall = time.perf_counter() - start
    after = os.times()
    user = after.children_user - before.children_user
    return Times(wall, user + after.children_system - before.children_system)


def draw_photos(folder: Path) -> None:
    """Draw coloured noise around a colour for each of three classes, at 640 x 480 pixels."""
    noise = np.random.default_rng(0)
    for name, shade in (("dark", 60), ("middle", 128), ("bright", 190)):
        (folder / "support" / name).mkdir(parents=True)
        for number in range(3):
            pixels = noise.normal(shade, 40, (480, 640, 3)).clip(0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / "support" / name / f"{number}.jpg")


def commands() -> dict[str, list[str]]:
    """Return the commands that are timed, by name."""
    samovar = [sys.executable, "-m", "samovar"]
    photo = "support/dark/0.jpg"
    found: dict[str, list[str]] = {"import torch": [sys.executable, "-c", "import torch"]}
    for model in MODELS:
        predict = [*samovar, "predict", f"{model}.safetensors", photo, "--device", "cpu"]
        found[f"predict one photo, {model}"] = [*predict, "--no-cache"]
    found["task"] = [*samovar, "task", "photos.safetensors"]
    found["predict, a task that is not there"] = [*samovar, "predict", "no.safetensors", photo]
    found["predict, an image that is not there"] = [*samovar, "predict", "photos.safetensors", "no"]
    found["--help"] = [*samovar, "--help"]
    return found


def start_up(folder: Path, rounds: int) -> dict[str, Any]:
    """Time every command in turns, and relate it to importing torch in the same round."""
    for model in MODELS:
        fit = ["fit", "--support", "support", "--task", f"{model}.safetensors", "--model", model]
        command = [sys.executable, "-m", "samovar", *fit, "--device", "cpu"]
        subprocess.run(command, cwd=folder, capture_output=True, check=True)
    measured: dict[str, list[Times]] = {name: [] for name in commands()}
    for _ in range(rounds):
        for name, command in commands().items():
            measured[name].append(timed_process(command, folder))
    bare = measured["import torch"]
    report = {}
    for name, times in measured.items():
        pairs = list(zip(times, bare, strict=True))
        report[name] = {
            "wall": round(statistics.median(entry.wall for entry in times), 3),
            "processor": round(statistics.median(entry.processor for entry in times), 3),
            "wall / import torch": _median_ratio([a.wall / b.wall for a, b in pairs]),
            "processor / import torch": _median_ratio(
                [a.processor / b.processor for a, b in pairs]
            ),
        }
    return report


def _median_ratio(ratios: list[float]) -> float:
    return round(statistics.median(ratios), 2)


def seconds(work: Callable[[], object]) -> float:
    """Return how long a function takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def further_fits(folder: Path, model: str, rounds: int) -> dict[str, float]:
    """Time a fit with a model that is kept, loaded again, and built with initial weights."""
    from samovar import FewShotClassifier
    from samovar.artifacts.loaded_models import LOADED_MODELS
    from samovar.artifacts.locate import locate_model
    from samovar.artifacts.saved_model import SavedModel, load_model
    from samovar.models.few_shot_model import FewShotModel

    paths = sorted((folder / "support").glob("*/*.jpg"))
    images = [np.asarray(Image.open(path).resize((64, 64))) for path in paths]
    labels = [path.parent.name for path in paths]

    def fit() -> None:
        FewShotClassifier(model, device="cpu").fit(images, labels)

    def load_and_fit() -> None:
        LOADED_MODELS.clear()
        fit()

    saved = load_model(locate_model(model))

    def initialise_and_fit() -> None:
        if isinstance(saved, SavedModel):  # a regression has no network to initialise
            FewShotModel(saved.model.settings)
        load_and_fit()

    first = seconds(fit)
    kept, loaded, initialised = [], [], []
    for _ in range(rounds):
        initialised.append(seconds(initialise_and_fit))
        loaded.append(seconds(load_and_fit))
        kept.append(seconds(fit))
    medians = [statistics.median(times) for times in (kept, loaded, initialised)]
    return {
        "first fit": round(first, 4),
        "kept": round(medians[0], 4),
        "loaded again": round(medians[1], 4),
        "initialised and loaded again": round(medians[2], 4),
        "loaded again / kept": round(medians[1] / medians[0], 2),
        "initialised and loaded again / kept": round(medians[2] / medians[0], 2),
    }


def main() -> None:
    """Print the measurements as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="how often each command is started")
    parser.add_argument("--fits", type=int, default=30, help="how often each kind of fit is done")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["SAMOVAR_CACHE"] = str(folder / "cache")
        draw_photos(folder)
        report = {"start": start_up(folder, arguments.rounds)}
        report["fit"] = {}
        for model in MODELS:
            report["fit"][model] = further_fits(folder, model, arguments.fits)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
