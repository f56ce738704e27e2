"""The model `photos` on many classes: time, memory and size of the task file. Prints JSON.

    python benchmarks/regression_scale.py [--classes 10 100 1000] [--threads 1 2] [--shots 20]

Each class has 20 vectors of 1280 numbers like those of EfficientNet-Lite0, drawn around class means
with as many zeros. Each task runs in a process of its own, whose largest memory is given with and
without what was there before the fit. Fitting is what `samovar fit` does once it has the vectors:
inference, the task's temperature, leave-one-out, and the thresholds for "none of these". Its
processor time, summed over threads, depends less on what else the machine does. Answering is
measured after the task was written and read again: the first vector, for which everything is
computed from the stored vectors, then one vector (median of 20) and a thousand.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import tyro

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.loading import fit_task, load_fitted, ready_model, save_fitted

LENGTH = 1280
QUERIES = 1000
CPU = torch.device("cpu")
PARAMETERS = AnswerParameters(128, 0.05, seed=0)


@dataclass(frozen=True)
class Measured:
    """The figures of one task."""

    classes: int
    shots: int
    threads: int
    fit_seconds: float
    fit_processor_seconds: float
    save_seconds: float
    first_answer_seconds: float
    one_answer_milliseconds: float
    thousand_answers_seconds: float
    peak_megabytes: float
    """Of the whole process, with Python, torch and the vectors."""
    megabytes_before: float
    file_megabytes: float
    leave_one_out: float


def drawn_vectors(classes: int, each: int, seed: int) -> list[torch.Tensor]:
    """Return vectors around class means that are the same for every seed, and never negative."""
    means = np.random.default_rng(99).normal(size=(classes, LENGTH)).astype(np.float32)
    noise = np.random.default_rng(seed).standard_normal((classes * each, LENGTH), np.float32)
    vectors = np.maximum(np.repeat(means, each, 0) + noise, 0)
    return list(torch.from_numpy(vectors))


def seconds_of(work: Callable[[], Any]) -> float:
    """Return the time that something takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def peak_megabytes() -> float:
    """Return the largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def measure(classes: int, threads: int, shots: int) -> Measured:
    """Fit, save, load and answer one task in this process."""
    torch.set_num_threads(threads)
    saved = ready_model("photos", CPU)
    vectors = drawn_vectors(classes, shots, 0)
    queries = drawn_vectors(classes, 1, 1)
    labels = [f"class {number // shots}" for number in range(len(vectors))]
    before = peak_megabytes()
    used = time.process_time()
    started = time.perf_counter()
    fitted = fit_task(saved, CPU, vectors, labels)
    left_out = fitted.leave_one_out(PARAMETERS)
    fit_seconds = time.perf_counter() - started
    processor_seconds = time.process_time() - used
    peak = peak_megabytes()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "task.safetensors"
        started = time.perf_counter()
        save_fitted(path, fitted, "photos", PARAMETERS, left_out)
        save_seconds = time.perf_counter() - started
        size = path.stat().st_size
        del fitted, vectors
        started = time.perf_counter()
        loaded, _ = load_fitted(path, None, CPU)
        loaded.answer(queries[:1], PARAMETERS)
        first = time.perf_counter() - started
    single = [seconds_of(lambda: loaded.answer(queries[:1], PARAMETERS)) for _ in range(20)]
    many = (queries * QUERIES)[:QUERIES]
    thousand = seconds_of(lambda: loaded.answer(many, PARAMETERS))
    return Measured(
        classes=classes,
        shots=shots,
        threads=threads,
        fit_seconds=round(fit_seconds, 2),
        fit_processor_seconds=round(processor_seconds, 2),
        save_seconds=round(save_seconds, 2),
        first_answer_seconds=round(first, 2),
        one_answer_milliseconds=round(1000 * statistics.median(single), 2),
        thousand_answers_seconds=round(thousand, 2),
        peak_megabytes=round(peak),
        megabytes_before=round(before),
        file_megabytes=round(size / 1e6, 2),
        leave_one_out=0.0 if left_out is None else left_out.accuracy,
    )


def in_a_process(classes: int, threads: int, shots: int) -> dict[str, Any]:
    """Measure one task in a process of its own."""
    command = [sys.executable, __file__, "--child", str(classes), str(threads), str(shots)]
    # Threads wait as they do in `samovar fit`, see core/threads.py.
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "PASSIVE"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def main(
    classes: tuple[int, ...] = (10, 100, 1000),
    threads: tuple[int, ...] = (1, 2),
    shots: int = 20,
    child: Annotated[tuple[int, int, int] | None, tyro.conf.arg(help="Internal.")] = None,
) -> None:
    """Measure and print JSON.

    Args:
        classes: Numbers of classes.
        threads: Numbers of threads.
        shots: Vectors of each class.
        child: A single measurement, in this process.
    """
    if child is not None:
        print(json.dumps(asdict(measure(*child))))
        return
    tasks = []
    for count in classes:
        for number in threads:
            tasks.append(in_a_process(count, number, shots))
    facts = {
        "cores": os.cpu_count(),
        "load": [round(load, 1) for load in os.getloadavg()],
        "torch": torch.__version__,
        "tasks": tasks,
    }
    print(json.dumps(facts, indent=1))


if __name__ == "__main__":
    tyro.cli(main)
