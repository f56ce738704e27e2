"""All cells of all experiments, and kept evidence with given accuracies."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from helpers import make_store

from samovar.experiments.cell import SCALES, Cell, Scale
from samovar.experiments.evidence import Workplace, gather_evidence
from samovar.experiments.experiment import Measurements
from samovar.experiments.registry import all_experiments
from samovar.settings.data import DataSettings
from samovar.settings.model import ModelSettings
from samovar.settings.paper import Published
from samovar.settings.tasks import EpisodeSettings, Protocol
from samovar.settings.training import OptimizerSettings, TrainSettings, ValidationSettings


def all_cells() -> dict[str, Cell]:
    """Return every cell of every experiment at both scales, by name."""
    cells = {}
    for experiment in all_experiments():
        for scale in SCALES:
            for cell in experiment.cells(scale):
                cells[cell.name] = cell
    return cells


ALL_CELLS = all_cells()


def measurements(cells: list[Cell], place: Workplace, scale: Scale = "cpu") -> Measurements:
    """Return what a table is made from, as it is on disk now."""
    return Measurements(scale, gather_evidence(cells, place))


def keep_evidence(place: Workplace, cell: Cell, accuracy: np.ndarray) -> None:
    """Write what `measure` keeps, with a given accuracy of each task."""
    mean = {"mean": float(accuracy.mean()), "ci95": 0.0}
    # Too sure by two points, in the one bin that has queries.
    filled = {"queries": 10, "confidence": mean["mean"] + 0.02, "accuracy": mean["mean"]}
    metrics = {"accuracy": mean, "nll": mean, "ece": {"value": 0.02}, "reliability": [filled]}
    summary = metrics | {
        "mean_classifier": metrics,
        "data": "",
        "data_checksum": "",
        "episodes": len(accuracy),
    }
    for protocol in cell.protocols:
        folder = place.evaluation(cell, protocol)
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {f"predictive_{name}": accuracy for name in ("accuracy", "nll", "brier")}
        np.savez(folder / "evaluation.npz", **arrays)
        stored = asdict(protocol) | {"norm": "running", "text": str(protocol)}
        content = summary | {"protocol": stored}
        (folder / "evaluation.json").write_text(json.dumps(content))
    keep_training(place, cell, [])


def keep_training(place: Workplace, cell: Cell, trace: list[dict[str, float]]) -> None:
    """Write the kept training of a cell, with a given trace."""
    names = ("prior single", "prior average", "posterior single", "posterior average")
    samples: dict[str, object] = {"tasks": cell.protocol.episodes}
    for name in names:
        samples[name] = {"mean": 0.5, "ci95": 0.01}
    content = {"settings": asdict(cell.settings), "samples": samples, "trace": trace}
    place.training(cell).parent.mkdir(parents=True, exist_ok=True)
    place.training(cell).write_text(json.dumps(content))


def keep_divergence(place: Workplace, cell: Cell, update: int) -> None:
    """Write what is kept of a cell whose training diverged."""
    place.divergence(cell).parent.mkdir(parents=True, exist_ok=True)
    content = {"settings": asdict(cell.settings), "update": update}
    place.divergence(cell).write_text(json.dumps(content))


def make_cells(data_folder: Path) -> list[Cell]:
    """Two methods of two seeds each, on images that tell their class."""
    names = [f"class {i}" for i in range(12)]
    make_store(
        data_folder,
        [14] * 12,
        (12, 12, 3),
        {"train": names[:4], "val": names[4:8], "test": names[8:]},
    )

    def cell(row: str, seed: int) -> Cell:
        method = ModelSettings(method="samovar" if row == "samovar" else "versa", size=12, width=4)
        settings = TrainSettings(
            data=DataSettings("toy"),
            model=method,
            episodes=EpisodeSettings(3, 1, 2),
            tasks=1,
            updates=4,
            optimizer=OptimizerSettings(learning_rate=1e-3),
            validation=ValidationSettings(every=4, tasks=3, way=3, queries=2, test_tasks=3),
            checkpoint_every=2,
            trace_every=1,
            seed=seed,
        )
        protocol = Protocol(3, 1, 4, episodes=25, samples=10)
        other_protocols = (replace(protocol, shot=2),)
        published = Published("1", 50.0 if row == "samovar" else 40.0, 0.2)
        return Cell(
            name=f"{row}-{seed}",
            row=row,
            column="1-shot",
            settings=settings,
            protocol=protocol,
            published=published,
            other_protocols=other_protocols,
            method=row,
            group="1-shot",
        )

    return [cell("samovar", 0), cell("samovar", 1), cell("versa", 0), cell("versa", 1)]
