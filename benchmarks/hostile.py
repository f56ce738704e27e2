"""Give damaged and hostile inputs to the real commands, and kill commands while they write.

Counts what came of it, by kind of input, and prints JSON:

    python benchmarks/hostile.py                              10,000 inputs and 100 kills
    python benchmarks/hostile.py --inputs 1000 --kills 20     a shorter look

Outcomes of an input: refused (in a sentence), skipped (in part, and said), accepted; and what must
never happen: a traceback, a hang (no answer within a minute), a death of the process, more than
2 GB of memory, a file outside the input's folder. A kill ends a process at its n-th call that
changes the disk; afterwards the same command is run again, and everything must be as if nothing had
happened.
"""

import contextlib
import io
import json
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import tyro
from helpers_hostile import (
    KINDS,
    PLACES,
    Kind,
    flag_commands,
    fresh_copy,
    make_template,
    run_command,
)
from helpers_images import make_folder
from helpers_training import TINY, command, make_toy_data

PATIENCE = 60.0
"""Seconds for the commands of one input."""
MOST_MEMORY = 2 * 10**6
"""Kilobytes."""
REFUSED = {0: "accepted", 1: "skipped in part", 2: "refused in a sentence"}
HARMLESS = tuple(REFUSED.values())
FLAGS = "flags"


@dataclass
class Arguments:
    """What to try."""

    inputs: int = 10_000
    """Mutated inputs in all."""
    kills: int = 100
    """Processes that are killed."""
    seed: int = 0
    """Other seeds give other inputs and other kills."""
    kinds: tuple[str, ...] = ()
    """Only these kinds of input."""


@dataclass
class Counts:
    """How often each outcome was seen."""

    outcomes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    harm: Counter[str] = field(default_factory=Counter)
    """What went wrong, in a line."""
    first_seed: dict[str, str] = field(default_factory=dict)
    """An input for each of these."""

    def add(self, kind: str, seed: int, outcome: str, reason: str) -> None:
        """Count an outcome."""
        self.outcomes[kind][outcome] += 1
        if outcome not in HARMLESS:
            line = f"{kind}: {outcome}: {reason}"
            self.harm[line] += 1
            self.first_seed.setdefault(line, f"--kinds {kind}, seed {seed}")

    def to_json(self) -> dict[str, Any]:
        """Return the counts."""
        total: Counter[str] = Counter()
        for outcomes in self.outcomes.values():
            total += outcomes
        harm = [
            {"what": line, "times": times, "input": self.first_seed[line]}
            for line, times in self.harm.most_common()
        ]
        return {
            "inputs": sum(total.values()),
            "outcomes": dict(total),
            "by kind": {kind: dict(outcomes) for kind, outcomes in sorted(self.outcomes.items())},
            "harm": harm,
        }


def attempt(kind: Kind | None, template: Path, folder: Path, seed: int) -> tuple[str, str]:
    """Spoil a fresh copy of a sound folder and run its commands; return outcome and reason."""
    fresh_copy(template, folder)
    for name, place in PLACES.items():
        os.environ[name] = str(folder / place)
    os.chdir(folder)
    if kind is None:
        commands = flag_commands(folder, seed)
    else:
        commands = kind.commands(folder, kind.spoil(folder, seed))
    worst = 0
    for arguments in commands:
        output = io.StringIO()
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                worst = max(worst, run_command(arguments))
        except BaseException as error:
            frames = traceback.extract_tb(error.__traceback__)
            own = [frame for frame in frames if "samovar" in frame.filename] or frames
            place = f"{Path(own[-1].filename).name}:{own[-1].lineno}"
            return "traceback", f"{type(error).__name__} at {place}"
    if worst not in REFUSED:
        return "traceback", f"exit code {worst}"
    return REFUSED[worst], ""


def peak_memory() -> int:
    """Return the most memory of this process since it was last asked, in kilobytes."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    peak = re.search(r"VmHWM:\s+(\d+)", status.read_text())
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return int(peak[1]) if peak else 0


def work(connection: Connection, templates: dict[str, Path], folder: Path) -> None:
    """Answer one input after the other, in a process of its own."""
    kinds = {kind.name: kind for kind in KINDS}
    while True:
        name, seed = connection.recv()
        outcome, reason = attempt(kinds.get(name), templates[name], folder / "input", seed)
        memory = peak_memory()
        if memory > MOST_MEMORY:
            outcome, reason = "over 2 GB", f"{memory / 1e6:.1f} GB"
        outside = sorted(path.name for path in folder.iterdir() if path.name != "input")
        if outside:
            outcome, reason = "file outside", ", ".join(outside)
        connection.send((outcome, reason))


class Worker:
    """A process that tries inputs, and is replaced when it hangs or dies."""

    def __init__(self, templates: dict[str, Path], folder: Path) -> None:
        self.templates = templates
        self.folder = folder
        self._start()

    def _start(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=work, args=(other, self.templates, self.folder))
        self.process.start()
        other.close()

    def attempt(self, name: str, seed: int) -> tuple[str, str]:
        """Try an input."""
        self.connection.send((name, seed))
        try:
            if self.connection.poll(PATIENCE):
                return self.connection.recv()
            outcome = "hang"
        except (EOFError, OSError):
            outcome = "death"
        self.stop()
        self._start()
        return outcome, f"exit code {self.process.exitcode}"

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()


def make_templates(folder: Path) -> dict[str, Path]:
    """Make a sound folder of each kind."""
    templates = {}
    for kind in KINDS:
        with contextlib.redirect_stdout(io.StringIO()):
            templates[kind.name] = make_template(kind, folder / kind.name)
    templates[FLAGS] = folder / FLAGS
    make_folder(templates[FLAGS] / "images", {"one": 100, "two": 101}, 2)
    make_toy_data(templates[FLAGS] / "data")
    return templates


def order_of_kinds(wanted: tuple[str, ...]) -> list[str]:
    """Return the kinds in the order in which they are tried; slow ones come up less often."""
    order = []
    for turn in range(8):
        for kind in KINDS:
            if turn % kind.cost == 0:
                order.append(kind.name)
        order.append(FLAGS)
    return [name for name in order if not wanted or name in wanted]


def try_inputs(arguments: Arguments, templates: dict[str, Path], folder: Path) -> Counts:
    """Try all inputs."""
    counts = Counts()
    order = order_of_kinds(arguments.kinds)
    worker = Worker(templates, folder)
    for number in range(arguments.inputs):
        name = order[number % len(order)]
        seed = arguments.seed * 10**9 + number
        outcome, reason = worker.attempt(name, seed)
        counts.add(name, seed, outcome, reason)
        if number % 500 == 499:
            print(f"{number + 1} inputs", file=sys.stderr, flush=True)
    worker.stop()
    return counts


WRITING = ("rename", "replace", "unlink", "rmdir", "fsync", "mkdir", "ftruncate", "link")
"""The calls of the operating system before which a process is killed."""


def die_at(step: int) -> Callable[[], int]:
    """End this process before its n-th call that changes the disk; return a count of the calls."""
    import samovar.data.replacement as replacement

    calls = 0

    def dying(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal calls
            if calls == step:
                os._exit(9)
            calls += 1
            return function(*arguments, **options)

        return call

    for name in WRITING:
        setattr(os, name, dying(getattr(os, name)))
    replacement.exchange = dying(replacement.exchange)
    return lambda: calls


def run_dying(commands: list[list[str]], step: int, connection: Connection) -> None:
    """Run commands in a process that is killed at a step, unless they have fewer."""
    calls = die_at(step)
    os.environ["SAMOVAR_CACHE"] = os.environ["SAMOVAR_DATA"] + "-cache"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        codes = [run_command(arguments) for arguments in commands]
    connection.send((codes, calls()))
    connection.close()
    os._exit(0)


def in_child(commands: list[list[str]], step: int = -1) -> tuple[list[int], int] | None:
    """Run commands in a process of their own; None if it was killed."""
    context = multiprocessing.get_context("fork")
    connection, other = context.Pipe(duplex=False)
    process = context.Process(target=run_dying, args=(commands, step, other))
    process.start()
    other.close()
    try:
        return connection.recv()
    except EOFError:
        return None
    finally:
        process.join()


def content(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, without times, lock files, pictures and the cache."""
    files = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        # The cache may only save time, and a process that was killed has not written to it.
        ignored = path.name.endswith((".lock", ".png")) or name.startswith("data-cache")
        if path.is_file() and not ignored:
            files[name] = re.sub(
                rb'"(seconds_left|images_per_second)": [-\d.e]+', b"", path.read_bytes()
            )
    return files


@dataclass(frozen=True)
class Scenario:
    """Commands that are killed, and what a folder has when they are through."""

    name: str
    prepare: Callable[[Path], None]
    commands: Callable[[Path], list[list[str]]]
    share: float
    """The share of the kills."""


def prepare_training(folder: Path) -> None:
    """Make the data of a training."""
    make_toy_data(folder / "data")


def prepare_replacing(folder: Path) -> None:
    """Make a store that is replaced by another."""
    make_folder(folder / "images", {"one": 100, "two": 101}, 2)
    in_child([["data", "prepare", "folder", "--root", str(folder / "images"), "--size", "12"]])


def prepare_adding(folder: Path) -> None:
    """Make a task that gets more images."""
    make_folder(folder / "images", {"one": 100, "two": 101}, 2)
    fit = ["fit", "--model", "glyphs", "--support", str(folder / "images")]
    in_child([[*fit, "--task", str(folder / "t.safetensors")]])
    make_folder(folder / "more", {"three": 102}, 2)


def add_commands(folder: Path) -> list[list[str]]:
    """Return the command that adds images to a task."""
    task = str(folder / "t.safetensors")
    return [["fit", "--add", "--support", str(folder / "more"), "--task", task]]


def prepare_embedding(folder: Path) -> None:
    """Make images that are embedded."""
    make_folder(folder / "images", {"one": 100, "two": 101}, 2)


SCENARIOS = (
    Scenario("train", prepare_training, lambda folder: [command(TINY, folder / "run")[3:]], 0.6),
    Scenario(
        "replace a store",
        prepare_replacing,
        lambda folder: [
            ["data", "prepare", "folder", "--root", str(folder / "images"), "--size", "8"]
        ],
        0.2,
    ),
    Scenario(
        "embed",
        prepare_embedding,
        lambda folder: [["embed", str(folder / "images"), "--out", str(folder / "v.npz")]],
        0.1,
    ),
    Scenario(
        "fit --add",
        prepare_adding,
        add_commands,
        0.1,
    ),
)


def kill_in(scenario: Scenario, kills: int, folder: Path, seed: int) -> dict[str, Any]:
    """Kill the commands of a scenario at steps all over them, and run them again each time."""
    sound = folder / "sound"
    shutil.rmtree(folder, ignore_errors=True)
    sound.mkdir(parents=True)
    os.environ["SAMOVAR_DATA"] = str(folder / "place" / "data")
    place = folder / "place"
    place.mkdir()
    scenario.prepare(place)
    shutil.copytree(place, sound, dirs_exist_ok=True)
    finished = in_child(scenario.commands(place))
    assert finished is not None
    expected = content(place)
    steps = finished[1]
    counts: Counter[str] = Counter()
    for number in range(kills):
        step = (number * steps // max(1, kills) + seed) % steps
        fresh_copy(sound, place)
        killed = in_child(scenario.commands(place), step) is None
        there = [path.name for path in place.iterdir()]
        in_place = scenario.name != "replace a store" or (place / "data/folder/store.json").exists()
        again = in_child(scenario.commands(place))
        same = again is not None and set(again[0]) == {0} and content(place) == expected
        counts["killed" if killed else "not killed"] += 1
        counts["bit-identical" if same else "different"] += 1
        if not in_place:
            counts["nothing in its place"] += 1
        if not same:
            differing = {name for name in expected if content(place).get(name) != expected[name]}
            extra = content(place).keys() - expected.keys()
            print(f"{scenario.name} at {step}: {there} {differing} {extra}", file=sys.stderr)
    return {"calls that write": steps} | dict(counts)


def try_kills(arguments: Arguments, folder: Path) -> dict[str, Any]:
    """Kill all scenarios."""
    results = {}
    for scenario in SCENARIOS:
        kills = round(scenario.share * arguments.kills)
        if kills:
            results[scenario.name] = kill_in(scenario, kills, folder / "kills", arguments.seed)
    return results


def main(arguments: Arguments) -> None:
    """Try inputs and kills, and print what came of them."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sound").mkdir()
        templates = make_templates(folder / "sound")
        counts = try_inputs(arguments, templates, folder / "work")
        # Only now: a process that is forked must not have threads of torch.
        kills = try_kills(arguments, folder)
        os.chdir("/")
    seconds = time.monotonic() - start
    print(json.dumps(counts.to_json() | {"kills": kills, "seconds": round(seconds)}, indent=1))


if __name__ == "__main__":
    main(tyro.cli(Arguments))
