"""Hash what a change of the code must not change, to compare it before and after the change.

    python benchmarks/fingerprints.py --out before.json
    python benchmarks/fingerprints.py --against before.json

Small runs of all kinds are trained, evaluated and compared, tasks are fitted and answered, tables
are reproduced: weights, checkpoints, metrics, evaluations, tasks, answers and tables are hashed.
Numbers that depend on the clock and sentences that are written for people are left out. With
--against the names of what differs are printed and the exit code is 1. Both runs must be on the
same machine: floating-point results differ between processors, so hashes are never committed. It
takes about two minutes.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from samovar.classifier.task_file import read_task, write_task

REPOSITORY = Path(__file__).resolve().parents[1]
TINY = (
    "--updates 4 --tasks 2 --model.samples 3 --checkpoint-every 2 --trace-every 1 "
    "--validation.every 2 --validation.tasks 4 --validation.test-tasks 8 "
    "--validation.test-samples 4 --accelerator cpu"
)
SHAPE = (
    "--episodes.way 4 --episodes.shot 2 --episodes.queries 3 "
    "--validation.queries 3 --validation.shot 2"
)
RUNS = {
    "samovar": "--model.width 8",
    "separate": "--model.width 8 --model.classifier linear --model.no-shared --model.reduction sum",
    "versa": "--model.width 8 --model.method versa --model.classifier linear "
    "--model.norm episode --model.dropout 0.1",
    "resnet": "--model.width 4 --model.backbone resnet12 --model.task-embedding "
    "--model.auxiliary-classes 1200 --augmentation.flip --augmentation.crop-padding 2 "
    "--augmentation.jitter 0.4 --optimizer.clip 0.1 --optimizer.decay-extractor 0.0005 "
    "--optimizer.decay-multipliers 0.01 --optimizer.decay-inference 0.0001",
    "tadam": "--model.width 4 --model.backbone resnet12 --model.task-embedding "
    "--model.method prototypes --model.classifier euclidean --model.alpha 7.5 "
    "--optimizer.kind sgd --optimizer.schedule drops --optimizer.drops 2",
}
"""Flags of the trainings: together they go through every kind of network, loss and optimizer."""
PROTOCOL = "--way 3 --shot 2 --queries 4 --episodes 25 --samples 20 --device cpu"
STUDY = "--seeds 3 --monte-carlo-seeds 2 --steps 5 --samples 1 3 --sigma-y 0.5"
PROSE = {
    "text",
    "temperature_note",
    "about",
    "figures",
    "images_per_second",
    "seconds_left",
    "image",
    "verdict",
    "seal",
    "weights_sha256",
}
"""Keys of JSON files whose values are for people, depend on the clock or on folders, or are hashes
of what is hashed here anyway."""
EXPERIMENTS = (
    "table1",
    "table2",
    "shots",
    "calibration",
    "collapse",
    "beta",
    "sampling",
    "omniglot",
    "longer",
)


Fingerprints = dict[str, Any]
"""Hashes by what they are of; those of a run's files are a dictionary of their own."""


def samovar(*arguments: str) -> str:
    """Run a command in a process of its own and return what it printed."""
    command = [sys.executable, "-m", "samovar", *arguments]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{finished.stderr}")
    return finished.stdout


def without_prose(value: Any) -> Any:
    """Return JSON content without the keys of PROSE, at any depth."""
    if isinstance(value, dict):
        return {key: without_prose(inner) for key, inner in value.items() if key not in PROSE}
    if isinstance(value, list):
        return [without_prose(inner) for inner in value]
    return value


def digest(content: bytes) -> str:
    """Return a short hash."""
    return hashlib.sha256(content).hexdigest()[:16]


def json_digest(text: str | bytes) -> str:
    """Return the hash of JSON content, whatever the order of its keys."""
    return digest(json.dumps(without_prose(json.loads(text)), sort_keys=True).encode())


def run_digests(run: Path) -> dict[str, str]:
    """Hash the files of a training run."""
    checkpoint = sorted((run / "checkpoints").glob("*.json"))[-1]
    lines = (run / "metrics.jsonl").read_text().splitlines()
    metrics = [without_prose(json.loads(line)) for line in lines]
    config = json.loads((run / "model" / "config.json").read_bytes())
    # The numbers of the sentences under "figures", which are left out too. Not a key of PROSE: the
    # studies keep what they measure under the same name, and that must not change.
    config["training"].pop("results", None)
    return {
        "weights": digest((run / "model" / "model.safetensors").read_bytes()),
        "config": json_digest(json.dumps(config)),
        "checkpoint": digest(checkpoint.with_suffix(".safetensors").read_bytes()),
        "progress": json_digest(checkpoint.read_bytes()),
        "metrics": digest(json.dumps(metrics, sort_keys=True).encode()),
    }


def evaluation_digests(folder: Path) -> dict[str, str]:
    """Hash the files of an evaluation."""
    # The arrays, not the archive: how they are packed does not matter.
    with np.load(folder / "evaluation.npz") as arrays:
        content = b"".join(name.encode() + arrays[name].tobytes() for name in sorted(arrays))
    return {
        "summary": json_digest((folder / "evaluation.json").read_bytes()),
        "tasks": digest(content),
    }


def draw_images(folder: Path, first: int, count: int) -> None:
    """Draw coloured stripes of three directions into class folders, different in every image."""
    rows, columns = np.mgrid[:48, :40]
    for name, direction in (("level", rows), ("slanted", rows + columns), ("upright", columns)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number in range(first, first + count):
            stripes = (direction // (3 + number % 4)) % 2 * 200
            channels = [stripes, (stripes + 30 * number) % 256, 255 - stripes]
            pixels = np.stack(channels, -1).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{number}.png")


def task_digest(path: Path) -> str:
    """Hash a task file without the file names and checksums of its images, which are only shown."""
    task, info = read_task(path)
    plain = path.with_suffix(".plain")
    write_task(plain, task, replace(info, support=None))
    return digest(plain.read_bytes())


def task_digests(folder: Path, model: str) -> dict[str, str]:
    """Fit a shipped model to drawn images, grow the task, answer other images, and hash it all."""
    draw_images(folder / "support", 0, 3)
    draw_images(folder / "more", 3, 1)
    draw_images(folder / "query", 10, 2)
    task = folder / f"{model}.safetensors"
    fit = ["fit", "--task", str(task), "--device", "cpu"]
    samovar(*fit, "--support", str(folder / "support"), "--model", model)
    first = task_digest(task)
    samovar(*fit, "--support", str(folder / "more"), "--add")
    queries = [str(path) for path in sorted((folder / "query").glob("*/*.png"))]
    answers = samovar("predict", str(task), *queries, "--json", "--device", "cpu")
    return {
        "task": first,
        "grown task": task_digest(task),
        "answers": json_digest(answers),
    }


def trained_digests(work: Path) -> Fingerprints:
    """Train and evaluate every kind of model, and hash its files."""
    hashes: Fingerprints = {}
    for name, flags in RUNS.items():
        run = work / name
        samovar("train", "glyphs", *TINY.split(), *SHAPE.split(), *flags.split(), "--out", str(run))
        protocol = PROTOCOL.split()
        if name != "versa":  # episode norm does not go with queries from outside
            protocol += ["--outside", "3"]
        samovar("evaluate", str(run), *protocol)
        hashes[name] = run_digests(run) | evaluation_digests(run / "evaluation")
    return hashes


def comparison_digest(work: Path) -> str:
    """Compare two of the trained models and hash the result, without the folders' names."""
    out = work / "compared"
    samovar("compare", str(work / "samovar"), str(work / "separate"), "--out", str(out))
    comparison = json.loads((out / "comparison.json").read_bytes())
    del comparison["first"], comparison["second"]
    return json_digest(json.dumps(comparison))


def table_digests(work: Path) -> Fingerprints:
    """Make the tables again from the stored evidence, and hash them."""
    results = work / "results"
    shutil.copytree(REPOSITORY / "results", results)
    folders = ["--out", str(results), "--runs", str(work / "runs")]
    hashes: Fingerprints = {}
    for name in EXPERIMENTS:
        samovar("reproduce", name, "--measured-only", *folders)
        hashes[f"reproduce {name}"] = json_digest((results / f"{name}.json").read_bytes())
    return hashes


def fingerprints(work: Path) -> Fingerprints:
    """Make everything in a folder and hash it."""
    hashes = trained_digests(work)
    hashes["comparison"] = comparison_digest(work)
    for model in ("glyphs", "cifar_fs"):
        hashes[f"own images, {model}"] = task_digests(work / f"own-{model}", model)
    samovar("synthetic", *STUDY.split(), "--out", str(work / "synthetic"))
    hashes["synthetic"] = json_digest((work / "synthetic" / "synthetic.json").read_bytes())
    hashes["presets"] = json_digest(samovar("presets", "--json"))
    return hashes | table_digests(work)


def differences(before: Fingerprints, after: Fingerprints) -> list[str]:
    """Name what differs, as `what` or `what: file`."""
    names = []
    for name in sorted({*before, *after}):
        old = before.get(name)
        new = after.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            names += [f"{name}: {file}" for file in differences(old, new)]
        elif old != new:
            names.append(name)
    return names


def main() -> None:
    """Print the hashes as JSON, store them or compare them with stored ones."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="the file to write")
    parser.add_argument("--against", type=Path, help="a file of an earlier run to compare with")
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as work:
        os.environ.setdefault("SAMOVAR_DATA", str(Path(work) / "data"))
        hashes = fingerprints(Path(work))
    text = json.dumps(hashes, indent=1)
    print(text)
    if arguments.out is not None:
        arguments.out.write_text(text)
    if arguments.against is not None:
        changed = differences(json.loads(arguments.against.read_text()), hashes)
        if changed:
            raise SystemExit(f"Differs from {arguments.against}: {', '.join(changed)}.")


if __name__ == "__main__":
    main()
