"""All cells of all experiments, and kept evidence with given accuracies."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from helpers import make_store

from samovar.experiments.cells import EXPERIMENTS, Cell
from samovar.experiments.reproduce import Workplace
from samovar.settings.data import DataSettings
from samovar.settings.model import ModelSettings
from samovar.settings.paper import Published
from samovar.settings.tasks import EpisodeSettings, Protocol
from samovar.settings.training import OptimizerSettings, TrainSettings, ValidationSettings

ALL_CELLS = {
    cell.name: cell
    for scale in ("cpu", "paper")
    for build in EXPERIMENTS.values()
    for cell in build(scale)
}


def keep_evidence(place: Workplace, cell: Cell, accuracy: np.ndarray) -> None:
    """What `measure` keeps, with a given accuracy of each task."""
    figures = {"mean": float(accuracy.mean()), "ci95": 0.0}
    way = {"accuracy": figures, "nll": figures, "ece": {"value": 0.0}}
    summary = way | {
        "mean_classifier": way,
        "data": "",
        "data_checksum": "",
        "episodes": len(accuracy),
    }
    for protocol in (cell.protocol, *cell.also):
        folder = place.evidence(cell, protocol)
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {f"predictive_{name}": accuracy for name in ("accuracy", "nll", "brier")}
        np.savez(folder / "evaluation.npz", **arrays)
        stored = summary | {
            "protocol": asdict(protocol) | {"norm": "running", "text": str(protocol)}
        }
        (folder / "evaluation.json").write_text(json.dumps(stored))
    names = ("prior single", "prior average", "posterior single", "posterior average")
    samples = dict.fromkeys(names, figures) | {"tasks": cell.protocol.episodes}
    kept = {"settings": asdict(cell.settings), "samples": samples}
    place.training(cell).write_text(json.dumps(kept))


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
        also = (replace(protocol, shot=2),)
        published = Published("1", 50.0 if row == "samovar" else 40.0, 0.2)
        return Cell(
            f"{row}-{seed}",
            row,
            "1-shot",
            settings,
            protocol,
            published,
            also=also,
            method=row,
            group="1-shot",
        )

    return [cell("samovar", 0), cell("samovar", 1), cell("versa", 0), cell("versa", 1)]
