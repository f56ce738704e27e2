"""Evaluations as they are read back from their folders, to be compared or tabulated.

An evaluation folder may come from anyone, so everything in it is checked and nothing is unpickled.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samovar.artifacts.locate import evaluation_folder, locate_model, shipped_models
from samovar.core.stored_json import parse_json, read_bytes
from samovar.data.npz import read_npz
from samovar.errors import DataError, RunError, SettingsError, UnreadableError
from samovar.evaluation.metrics import BINS, MEAN_METRICS
from samovar.evaluation.predictors import Predictor
from samovar.settings.checked import checked

LARGEST_METRIC = 1e12
"""No metric of a task is larger; sums of larger ones overflow."""


@dataclass(frozen=True)
class EvaluatedData:
    """The data of an evaluation: in words, and by hashes.

    checksum: of the images; identity: of images and classes, None in evaluations of early versions.
    """

    description: str
    checksum: str
    identity: str | None

    def matches(self, other: "EvaluatedData") -> bool:
        """Return whether both are the same images and classes, as far as that is known."""
        if self.identity and other.identity and self.identity != other.identity:
            return False
        return (self.description, self.checksum) == (other.description, other.checksum)


@dataclass(frozen=True)
class StoredEvaluation:
    """The stored evaluation of one model by one predictor.

    protocol: as evaluation.json has it; metrics: accuracy, nll and brier, each an array with the
    value of every task; bins: (tasks, 15, 3) for the calibration error, None where they were not
    kept.
    """

    folder: Path
    predictor: Predictor
    protocol: dict[str, Any]
    data: EvaluatedData
    metrics: dict[str, NDArray[np.float64]]
    bins: NDArray[np.float64] | None

    @classmethod
    def read(
        cls, path: str | Path, predictor: Predictor | str = Predictor.PREDICTIVE
    ) -> "StoredEvaluation":
        """Read the evaluation of an evaluation folder, a run, a model folder or a shipped model."""
        predictor = _predictor_named(predictor)
        folder = _folder_with_evaluation(Path(path))
        try:
            return cls._read(folder, predictor)
        except (OSError, UnreadableError, DataError) as error:
            reason = str(error).removesuffix(".")
            raise RunError(
                f"The evaluation in {folder} cannot be read ({reason}). Evaluate again."
            ) from error

    @classmethod
    def _read(cls, folder: Path, predictor: Predictor) -> "StoredEvaluation":
        # A metric may be NaN, but what is read here is not.
        content = read_bytes(folder / "evaluation.json")
        summary = parse_json(content, _Summary, nan_is_null=True)
        checked(_ProtocolInWords, summary.protocol)
        names = {name: f"{predictor}_{name}" for name in (*MEAN_METRICS, "bins")}
        arrays = read_npz(folder / "evaluation.npz", tuple(names.values()))
        if names["accuracy"] not in arrays:
            _refuse_missing(folder, predictor)
        for array in arrays.values():
            _check_array(folder, array, summary)
        metrics = {}
        for name in MEAN_METRICS:
            if names[name] not in arrays:
                raise UnreadableError(f"evaluation.npz has no {names[name]!r}")
            metrics[name] = _metric(arrays[names[name]], name)
        bins = None
        if names["bins"] in arrays:
            bins = _bins(arrays[names["bins"]])
        data = EvaluatedData(summary.data, summary.data_checksum, summary.data_identity)
        return cls(folder, predictor, summary.protocol, data, metrics, bins)


@dataclass(frozen=True)
class _Summary:
    """What is needed of evaluation.json; the metrics of each task are in evaluation.npz."""

    episodes: int
    data: str
    data_checksum: str
    protocol: dict[str, str | int | float | bool | None]
    data_identity: str | None = None


@dataclass(frozen=True)
class _ProtocolInWords:
    """What tables and reports show of a protocol."""

    text: str


def _predictor_named(name: Predictor | str) -> Predictor:
    if name not in list(Predictor):
        raise SettingsError(f"There is no predictor {name!r}. Use one of {', '.join(Predictor)}.")
    return Predictor(name)


def _refuse_missing(folder: Path, predictor: Predictor) -> None:
    """Say how to get a predictor that an evaluation may lack; the predictive is always there."""
    if predictor.is_rival and not predictor.is_tempered:
        raise RunError(f"{folder} was evaluated without rivals. Evaluate again with --rivals.")
    if predictor.is_rival:
        raise RunError(
            f"{folder} has no rivals with temperatures. Evaluate again with --rivals, without "
            "--no-temperature, on data with enough validation classes."
        )
    if predictor.is_tempered:
        raise RunError(
            f"{folder} was evaluated without temperatures. Evaluate again without --no-temperature."
        )


def _check_array(folder: Path, array: NDArray[Any], summary: _Summary) -> None:
    """Refuse files of two evaluations: the writer may have stopped between the two files."""
    tasks = summary.episodes
    if array.shape[:1] != (tasks,):
        raise RunError(
            f"evaluation.json and evaluation.npz in {folder} do not belong together. "
            "Evaluate again."
        )
    numbers = array.dtype.kind in "fiu"
    if not tasks or not numbers or not bool((np.abs(array) <= LARGEST_METRIC).all()):
        raise UnreadableError("evaluation.npz has values that are not plausible numbers")


def _metric(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    if array.ndim != 1:
        raise UnreadableError(f"evaluation.npz has several values of {name} for a task")
    return array.astype(np.float64)


def _bins(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return the bins (tasks, 15, 3), each of which has a number of queries and two sums."""
    if array.shape[1:] != (BINS, 3) or array.min() < 0 or not array[..., 0].sum(1).all():
        raise UnreadableError("evaluation.npz has bins that are not those of the calibration error")
    return array.astype(np.float64)


def _folder_with_evaluation(path: Path) -> Path:
    """Return the folder of the evaluation that a path stands for."""
    places = [path, path / "evaluation"]  # an evaluation folder, or a run that contains one
    # Other names could be models on the Hub, but comparing downloads nothing.
    if path.exists() or str(path) in shipped_models():
        places.append(evaluation_folder(locate_model(str(path))))
    for place in places:
        if (place / "evaluation.json").exists():
            return place
    several = []
    for place in places:
        several += [str(file.parent) for file in place.glob("*/evaluation.json")]
    if several:
        raise RunError(
            f"{path} contains several evaluations; name one of them: {', '.join(sorted(several))}"
        )
    raise RunError(f"{path} has no evaluation. Make one: samovar evaluate {path}")
