"""What is known of a cell: how far its run is, and what was measured of it.

Training leaves a run folder with weights. Measuring leaves small files under RESULTS/cells/NAME,
which are committed: an evaluation for each protocol, `training.json` (settings, trace of the
training, accuracies of single sampled classifiers) and, for some cells, `sampling.json`. Of a
training that diverged there is only `diverged.json`: that is a result too. Where
weights are kept they are in `model/`, so that `samovar evaluate RESULTS/cells/NAME` examines them
again. `Evidence` reads each of these files once and hands out typed values. It does not
notice later changes: make a new one after training or measuring. Files that were measured with
other settings or other tasks than the cell's are ignored, as if they were not there.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from samovar.core.stored_json import read_json
from samovar.data.store import data_folder
from samovar.errors import RunError, SettingsError, UnreadableError
from samovar.evaluation.stored_evaluation import StoredEvaluation
from samovar.experiments.cell import Cell
from samovar.experiments.records import CellSummary, TrainingTrace, checked_study
from samovar.settings.checked import checked
from samovar.settings.stored import differences, from_dict
from samovar.settings.tasks import Protocol
from samovar.settings.training import TrainSettings
from samovar.training.run_folder import RunFolder

Kind = TypeVar("Kind")
State = Literal["measured", "diverged", "trained", "begun", "missing", "no data"]
"""How far a cell is.

`diverged`: its loss stopped being finite, which has been recorded. `trained`: training has ended,
one way or the other, and is to be measured or recorded. `begun`: training has not finished.
`no data`: neither trained nor is the data prepared.
"""


@dataclass(frozen=True)
class Workplace:
    """Where runs are trained, and where evidence is kept."""

    runs: Path
    results: Path
    keeps_weights: bool = False
    """Whether the weights of what is measured are kept beside its numbers."""

    def run(self, cell: Cell) -> Path:
        """Return the folder in which a cell is trained."""
        return self.runs / cell.name

    def training(self, cell: Cell) -> Path:
        """Return the file that is kept of a cell's training."""
        return self.results / "cells" / cell.name / "training.json"

    def divergence(self, cell: Cell) -> Path:
        """Return the file that is kept of a training that diverged."""
        return self.results / "cells" / cell.name / "diverged.json"

    def sampling(self, cell: Cell) -> Path:
        """Return the file of a cell's study of sampled classifiers."""
        return self.results / "cells" / cell.name / "sampling.json"

    def weights(self, cell: Cell) -> Path:
        """Return the model folder that is kept of a cell."""
        return self.results / "cells" / cell.name / "model"

    def evaluation(self, cell: Cell, protocol: Protocol | None = None) -> Path:
        """Return the folder of a cell's evaluation under a protocol, by default its own."""
        protocol = protocol or cell.protocol
        name = f"{protocol.way}way-{protocol.shot}shot"
        # Only what differs from the paper's protocol is named, so that folder names stay short.
        if protocol.norm != "as trained":
            name += f"-{protocol.norm}"
        if protocol.queries != 15:
            name += f"-{protocol.queries}queries"
        return self.results / "cells" / cell.name / name


class Evidence:
    """How far the run of a cell is, and what was measured of it; each file is read once."""

    def __init__(self, cell: Cell, place: Workplace) -> None:
        self.cell = cell
        self.place = place
        self.run = RunFolder(place.run(cell))
        self._files: dict[Path, dict[str, Any]] = {}

    @cached_property
    def state(self) -> State:
        """How far the cell is; runs and evidence of other settings do not count."""
        if self._is_complete():
            return "measured"
        if self.diverged_at is not None:
            return "diverged"
        if self.run.config.exists() and not differences(self.run.settings(), self.cell.settings):
            if self.run.is_finished or self.run.diverged_at is not None:
                return "trained"
            return "begun"
        if (data_folder() / self.cell.settings.data.name).exists():
            return "missing"
        return "no data"

    @property
    def is_measured(self) -> bool:
        """Whether all that the cell asks for has been measured."""
        return self.state == "measured"

    @property
    def is_settled(self) -> bool:
        """Whether there is nothing left to do: the cell was measured, or its training diverged."""
        return self.state in ("measured", "diverged")

    @cached_property
    def diverged_at(self) -> int | None:
        """The update at which the training diverged, if that is what is kept of the cell."""
        path = self.place.divergence(self.cell)
        if not self._is_of_these_settings(path):
            return None
        return self._parsed(path, _update_of)

    def _is_complete(self) -> bool:
        if self.training is None:
            return False
        if not all(self.has_evaluation(protocol) for protocol in self.cell.protocols):
            return False
        if self.cell.study is not None and self.study is None:
            return False
        # The protocol may have got more tasks since the samples were measured.
        samples = self.training.samples
        return samples is None or samples.tasks == self.cell.protocol.episodes

    @cached_property
    def training(self) -> TrainingTrace | None:
        """What is kept of the training, if it is of the cell's settings."""
        path = self.place.training(self.cell)
        if not self._is_of_these_settings(path):
            return None
        return self._parsed(path, TrainingTrace.from_json)

    def has_evaluation(self, protocol: Protocol) -> bool:
        """Return whether there is an evaluation under exactly this protocol."""
        path = self.place.evaluation(self.cell, protocol) / "evaluation.json"
        if not path.exists():
            return False
        stored = self._parsed(path, _protocol_of)
        for name, value in asdict(protocol).items():
            # The file holds the norm that was in force, not "as trained".
            if value != "as trained" and stored.get(name) != value:
                return False
        return True

    def summary(self, protocol: Protocol | None = None) -> CellSummary:
        """Return the evaluation of a measured cell under a protocol, by default its own."""
        path = self.place.evaluation(self.cell, protocol) / "evaluation.json"
        return self._parsed(path, CellSummary.from_json)

    @cached_property
    def evaluation(self) -> StoredEvaluation:
        """The evaluation of a measured cell under its own protocol, with a row for each task."""
        return StoredEvaluation.read(self.place.evaluation(self.cell), "predictive")

    @property
    def task_accuracies(self) -> NDArray[np.float64]:
        """The accuracy of each task under the cell's own protocol."""
        return self.evaluation.metrics["accuracy"]

    @cached_property
    def study(self) -> dict[str, Any] | None:
        """The study of sampled classifiers, if there is one of the cell's settings and tasks."""
        if self.cell.study is None:
            return None
        path = self.place.sampling(self.cell)
        if not self._is_of_these_settings(path):
            return None
        stored = self._parsed(path, checked_study)
        # A study tries many numbers of samples, so that of its protocol is not stored.
        if stored["protocol"] != asdict(self.cell.study) | {"samples": None}:
            return None
        return stored

    def _is_of_these_settings(self, path: Path) -> bool:
        if not path.exists():
            return False
        settings = self._parsed(path, _settings_of)
        return not differences(settings, self.cell.settings)

    def _parsed(self, path: Path, parse: Callable[[dict[str, Any]], Kind]) -> Kind:
        """Return the typed form of a file, which is read once."""
        try:
            if path not in self._files:
                self._files[path] = read_json(path, dict[str, Any])
            return parse(self._files[path])
        except (OSError, UnreadableError, SettingsError) as error:
            raise RunError(f"The evidence in {path} cannot be read ({error}).") from error


@dataclass(frozen=True)
class _WithSettings:
    """A file of evidence that says by which settings the cell was trained."""

    settings: dict[str, Any]


@dataclass(frozen=True)
class _WithUpdate:
    """A file of evidence that says when the training diverged."""

    update: int


@dataclass(frozen=True)
class _WithProtocol:
    """A file of evidence that says how the cell was measured."""

    protocol: dict[str, Any]


def _settings_of(stored: dict[str, Any]) -> TrainSettings:
    return from_dict(TrainSettings, checked(_WithSettings, stored).settings)


def _update_of(stored: dict[str, Any]) -> int:
    return checked(_WithUpdate, stored).update


def _protocol_of(stored: dict[str, Any]) -> dict[str, Any]:
    return checked(_WithProtocol, stored).protocol


def gather_evidence(cells: list[Cell], place: Workplace) -> list[Evidence]:
    """Return what is known of each cell, in the order of the cells."""
    return [Evidence(cell, place) for cell in cells]
