"""From cells to evidence: what is missing and how long it takes; train it, measure it, keep figures without weights."""

import json
import shlex
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from samovar.artifacts.saved_model import load_model
from samovar.core.files import output_folder, write_whole
from samovar.data.store import data_folder
from samovar.errors import DataError, RunError, SamovarError
from samovar.evaluation.evaluator import Evaluator, training_dataset
from samovar.evaluation.posterior_study import prior_and_posterior
from samovar.evaluation.sampling_study import sampling_study
from samovar.experiments.cells import Cell
from samovar.reporting.progress_bar import progress_bar
from samovar.settings.stored import differences, from_dict
from samovar.settings.tasks import Protocol
from samovar.settings.training import TrainSettings
from samovar.training.run import train
from samovar.training.run_folder import RunFolder, read_metrics

State = Literal["measured", "trained", "begun", "missing", "no data"]
SPEED = {
    "conv4": 1348.0,
    "narrow": 531.0,
    "narrow with TEN": 278.0,
    "resnet12": 74.5,
    "resnet12 with TEN": 39.0,
}
"""Training images per second on two cores (docs/training.md), for estimates; the last by the ratio of the narrow."""
TRACE_EVERY = 250


@dataclass(frozen=True)
class Workplace:
    """Where runs are trained, and where their figures are kept: without weights, to be committed."""

    runs: Path
    results: Path

    def evidence(self, cell: Cell, protocol: Protocol | None = None) -> Path:
        """The folder of a cell's evaluation under a protocol."""
        chosen = protocol or cell.protocol
        name = f"{chosen.way}way-{chosen.shot}shot" + (
            f"-{chosen.norm}" if chosen.norm != "as trained" else ""
        )
        queries = f"-{chosen.queries}queries" if chosen.queries != 15 else ""
        return self.results / "cells" / cell.name / f"{name}{queries}"

    def training(self, cell: Cell) -> Path:
        """What is kept of a cell's training."""
        return self.results / "cells" / cell.name / "training.json"

    def sampling(self, cell: Cell) -> Path:
        """Where a cell's study of sampled classifiers is kept."""
        return self.results / "cells" / cell.name / "sampling.json"


def state_of(cell: Cell, place: Workplace) -> State:
    """How far a cell is. What was measured or begun with other settings does not count, and is said by `train`."""
    if _all_kept(cell, place):
        return "measured"
    run = RunFolder(place.runs / cell.name)
    if run.config.exists() and not differences(run.settings(), cell.settings):
        return "trained" if _finished(run) else "begun"
    return "missing" if (data_folder() / cell.settings.data.name).exists() else "no data"


def _all_kept(cell: Cell, place: Workplace) -> bool:
    """Is everything kept that the cell asks for, of its settings and by its protocols?"""
    kept = _kept(place.training(cell), cell)
    if kept is None or not all(
        _measured_by(each, place.evidence(cell, each)) for each in (cell.protocol, *cell.also)
    ):
        return False
    if cell.study is not None and stored_study(cell, place) is None:
        return False
    return kept["samples"] is None or kept["samples"]["tasks"] == cell.protocol.episodes


def _kept(path: Path, cell: Cell) -> dict[str, Any] | None:
    """What was kept of a cell, if there is anything and it is of these settings."""
    kept = _read(path) if path.exists() else None
    return (
        None
        if kept is None or differences(from_dict(TrainSettings, kept["settings"]), cell.settings)
        else kept
    )


def _measured_by(protocol: Protocol, folder: Path) -> bool:
    """Is there an evaluation, and by this protocol? What it stores of the norm is the one that was in force."""
    path = folder / "evaluation.json"
    if not path.exists():
        return False
    asked = {name: value for name, value in asdict(protocol).items() if value != "as trained"}
    return asked.items() <= _read(path)["protocol"].items()


def finished_run(cell: Cell, place: Workplace) -> RunFolder | None:
    """The cell's run with its weights, if it was trained to the end by these settings."""
    run = RunFolder(place.runs / cell.name)
    done = run.config.exists() and not differences(run.settings(), cell.settings) and _finished(run)
    return run if done else None


def _finished(run: RunFolder) -> bool:
    """The last thing that training writes is the test figure in the model's card."""
    config = run.model / "config.json"
    return config.exists() and any(
        "test accuracy" in key for key in json.loads(config.read_bytes())["training"]["figures"]
    )


def estimated_seconds(cell: Cell) -> float:
    """Training time on two cores like ours; for ResNet-12 at full width it says why one wants a GPU."""
    settings = cell.settings
    shape, model = settings.episodes, settings.model
    queries = shape.queries if shape.pooled_queries else shape.queries * shape.way
    images = settings.tasks * (shape.way * shape.shot + queries)
    resnet = ("narrow" if model.width < 64 else "resnet12") + (
        " with TEN" if model.task_embedding else ""
    )
    kind = "conv4" if model.backbone.startswith("conv") else resnet
    auxiliary = (
        settings.auxiliary_batch * 0.6 if model.auxiliary_classes else 0
    )  # as often as rho has it, on average
    pixels = (model.size / 32) ** 2
    return settings.updates * (images + auxiliary) * pixels / SPEED[kind]


def shell_command(cell: Cell, place: Workplace) -> str:
    """The command that trains a cell, for any scheduler: the preset, and what differs from it."""
    from samovar.settings.presets import PRESETS

    nearest = min(
        PRESETS.values(),
        key=lambda p: (len(differences(p.settings, cell.settings)), p.name != cell.preset),
    )
    flags = []
    for each in differences(nearest.settings, cell.settings):
        name, change = each.split(": ", 1)
        flags += _flag(name.replace("_", "-"), change.split(" -> ", 1)[1])
    return shlex.join(
        ["samovar", "train", nearest.name, *flags, "--out", str(place.runs / cell.name)]
    )


def _flag(name: str, value: str) -> list[str]:
    head, _, last = name.rpartition(".")
    if value in ("True", "False"):
        return [f"--{head + '.' if head else ''}{'' if value == 'True' else 'no-'}{last}"]
    if value.startswith("("):
        return [f"--{name}", *value.strip("(),").replace(",", "").split()]
    return [f"--{name}", value]


def reproduce(
    cells: list[Cell],
    place: Workplace,
    watch: Callable[[str], None],
    *,
    measure_only: bool,
    device: str = "cpu",
) -> list[str]:
    """Bring every cell to `measured`; what was cut goes on where it stopped. Returns what failed, which stops no other.

    Data that is not prepared is prepared by training, once: if it cannot be had, its cells are left.
    """
    output_folder(place.results)
    failed: dict[str, str] = {}
    for cell in {cell.name: cell for cell in cells}.values():
        state = state_of(cell, place)
        if state == "measured" or (state != "trained" and (measure_only or cell.only_ready)):
            continue
        try:
            if state != "trained" and cell.settings.data.name not in failed:
                watch(
                    f"{cell.name}: training, about {estimated_seconds(cell) / 60:.0f} minutes on two cores"
                )
                train(cell.settings, place.runs / cell.name, preset=cell.preset, watch=_tell(watch))
            if finished_run(cell, place) is not None:
                watch(f"{cell.name}: measuring")
                measure(cell, place, device)
        except SamovarError as error:
            failed[cell.settings.data.name if isinstance(error, DataError) else cell.name] = str(
                error
            )
            watch(f"{cell.name}: {error}")
    return [f"{name}: {error}" for name, error in failed.items()]


def _tell(watch: Callable[[str], None]) -> Callable[[dict[str, Any]], None]:
    def tell(line: dict[str, Any]) -> None:
        if "event" in line or "validation_accuracy" in line:
            watch("  " + json.dumps(line))

    return tell


def measure(cell: Cell, place: Workplace, device: str = "cpu") -> None:
    """Evaluate a trained cell under its protocols, and keep figures and traces. What is kept already is left."""
    known = _kept(place.training(cell), cell) is not None
    run = RunFolder(place.runs / cell.name)
    saved = load_model(run.model)
    evaluator = Evaluator(saved, training_dataset(saved, cell.protocol.split), device)
    for protocol in (cell.protocol, *cell.also):
        folder = place.evidence(cell, protocol)
        if known and _measured_by(protocol, folder):
            continue
        evaluation = evaluator.evaluate(protocol, temperature=False)
        output_folder(folder)
        kept = {name: value for name, value in evaluation.summary.items() if name != "classes"}
        write_whole(folder / "evaluation.npz", evaluation.tasks_file(bins=False))
        write_whole(folder / "evaluation.json", json.dumps(kept).encode())
    if cell.study is not None and stored_study(cell, place) is None:
        with progress_bar(f"{cell.name}: sampling study") as progress:
            study = sampling_study(evaluator.runner(cell.study), cell.study, progress=progress)
        write_whole(
            place.sampling(cell), json.dumps({"settings": asdict(cell.settings)} | study).encode()
        )
    # With TEN every task would be embedded twice more, and no table of such models shows prior beside posterior.
    conditioned = cell.settings.model.task_embedding
    samples = (
        None if conditioned else prior_and_posterior(evaluator.runner(cell.protocol), cell.protocol)
    )
    training = {
        "format": 1,
        "name": cell.name,
        "settings": asdict(cell.settings),
        "seconds": _seconds(run),
        "measured": time.strftime("%Y-%m-%d"),
        "trace": _trace(run),
        "samples": samples,
    }
    write_whole(place.training(cell), json.dumps(training).encode())


def _trace(run: RunFolder) -> list[dict[str, Any]]:
    """Validations, every 250th update and the last."""
    lines, last = read_metrics(run.metrics), run.settings().updates
    kept = {last, *range(TRACE_EVERY, last, TRACE_EVERY)}
    return [line for line in lines if "validation_accuracy" in line or line["update"] in kept]


def _seconds(run: RunFolder) -> float:
    """Training time, by the last line's throughput (of the last process, if it was stopped in between)."""
    lines = [line for line in read_metrics(run.metrics) if "images_per_second" in line]
    settings = run.settings()
    queries = settings.episodes.queries * (
        1 if settings.episodes.pooled_queries else settings.episodes.way
    )
    images = settings.tasks * (settings.episodes.way * settings.episodes.shot + queries)
    return round(settings.updates * images / lines[-1]["images_per_second"], 1)


def stored_summary(
    cell: Cell, place: Workplace, protocol: Protocol | None = None
) -> dict[str, Any] | None:
    """The kept evaluation of a cell, if there is one of these settings."""
    if state_of(cell, place) != "measured":
        return None
    return _read(place.evidence(cell, protocol) / "evaluation.json")


def stored_study(cell: Cell, place: Workplace) -> dict[str, Any] | None:
    """The kept study of sampled classifiers of a cell, if there is one of these settings and tasks."""
    kept = _kept(place.sampling(cell), cell)
    same = (
        kept is not None
        and cell.study is not None
        and kept["protocol"] == asdict(cell.study) | {"samples": None}
    )
    return kept if same else None


def _read(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise RunError(f"The evidence in {path} cannot be read ({error}).") from error
