"""Whether ONNX Runtime survives a model: tried once for each file, in a process of its own.

`onnx_file` refuses what can be seen in a file. Some hostile or damaged files show only when they
are run: they crash the process, ask for all memory, or never finish. So a file that was never seen
before is first run by `onnx_trial`, with limits. That it went well is remembered by the hash of the
file, so that the trial takes place once. A failure is not remembered: it may have been for lack of
memory or time, and is tried again.
"""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import onnxruntime

from samovar.core.files import write_whole
from samovar.encoders.vector_cache import cache_folder
from samovar.errors import ModelError, OutputError

MEMORY = 4 * 2**30
"""Bytes that a trial may use, beside several copies of the model."""
COPIES = 6
"""Of the model: as bytes, as a parsed file, as tensors, and rearranged for speed."""
SECONDS = 60
"""That a trial may take, and as many again for each gigabyte of the model."""
OUT_OF_MEMORY = ("allocate memory", "bad_alloc", "bad allocation", "MemoryError")
"""What ONNX Runtime and NumPy say when memory is refused."""


@dataclass(frozen=True)
class Limits:
    """What a trial of a model may use."""

    memory: int
    """Bytes."""
    seconds: int

    @classmethod
    def of(cls, content: bytes) -> "Limits":
        """Return the limits for a model of this size."""
        seconds = SECONDS * (1 + len(content) / 2**30)
        return cls(MEMORY + COPIES * len(content), int(seconds))


def probe(content: bytes, path: Path, side: int, *, remember: bool = True) -> None:
    """Refuse a model on which ONNX Runtime crashes, hangs, takes too much memory, or fails.

    Args:
        content: The model, as `read_onnx` returns it.
        path: What errors call it.
        side: Pixels of the test images, where the model takes any size.
        remember: Look for the verdict of an earlier trial, and keep that of this one.
    """
    verdict = _verdict_path(content, side)
    if remember and _is_known(verdict):
        return
    problem = _tried(content, side, Limits.of(content))
    if problem is not None:
        raise ModelError(f"{path} {problem}")
    if remember:
        _remember(verdict)


def _verdict_path(content: bytes, side: int) -> Path:
    """Return the file that says that a model is sound; another ONNX Runtime may find otherwise."""
    facts = f"{hashlib.sha256(content).hexdigest()} {side} {onnxruntime.__version__}"
    return cache_folder() / "onnx" / f"{hashlib.sha256(facts.encode()).hexdigest()}.txt"


def _is_known(verdict: Path) -> bool:
    try:
        return verdict.is_file()
    except OSError:  # a folder that may not be looked into
        return False


def _remember(verdict: Path) -> None:
    with contextlib.suppress(OSError, OutputError):  # next time it is tried again
        verdict.parent.mkdir(parents=True, exist_ok=True)
        write_whole(verdict, b"ONNX Runtime has run this model on test images.\n")


def _tried(content: bytes, side: int, limits: Limits) -> str | None:
    """Return what is wrong with a model, after its name; None if nothing is."""
    numbers = [str(side), str(limits.memory), str(limits.seconds)]
    command = [sys.executable, "-P", "-m", "samovar.encoders.onnx_trial", *numbers]
    try:
        done = subprocess.run(
            command,
            input=content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            timeout=limits.seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _too_slow(limits)
    except OSError as error:
        return f"cannot be tested, because no process can be started ({error})."
    return problem_of(done.returncode, done.stdout, limits)


def _environment() -> dict[str, str]:
    """Return the variables of the trial, which finds the packages that this process has found."""
    folders = [folder for folder in sys.path if isinstance(folder, str)]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # each reserves memory
    return os.environ | threads | {"PYTHONPATH": os.pathsep.join(folders)}


def problem_of(code: int, report: bytes, limits: Limits) -> str | None:
    """Return what the end of a trial says about the model, after its name; None if it went well."""
    try:
        error = json.loads(report)["error"]
    except (ValueError, KeyError, TypeError):
        return _crashed(code, limits)
    if error is None:
        return None
    if any(words in error for words in OUT_OF_MEMORY):
        return (
            f"needs more than {limits.memory / 2**30:.0f} GB of memory for a test image, so it is "
            "not used. It is damaged, hostile or not an encoder of images."
        )
    return f"cannot be run by ONNX Runtime: {error.splitlines()[0]}"


def _crashed(code: int, limits: Limits) -> str:
    name = f"exit code {code}"
    if code < 0:
        with contextlib.suppress(ValueError):
            name = signal.Signals(-code).name
    if name == "SIGXCPU":
        return _too_slow(limits)
    return (
        f"makes ONNX Runtime crash ({name}), so it is not used. It is damaged or hostile: export "
        "or download it again."
    )


def _too_slow(limits: Limits) -> str:
    return (
        f"was not done with a test image after {limits.seconds} seconds, so it is not used. It is "
        "hostile, or far too large for this machine."
    )
