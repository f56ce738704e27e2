"""Evaluations as they are read back from their folders, to be compared or tabulated.

An evaluation folder may come from anyone, so everything in it is checked and nothing is unpickled.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from samovar.artifacts.locate import evaluation_folder, locate_model, shipped_models
from samovar.errors import RunError, SettingsError
from samovar.evaluation.metrics import MEAN_METRICS
from samovar.evaluation.predictors import Predictor


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
        except RunError:
            raise
        except KeyError as error:
            raise RunError(
                f"The evaluation in {folder} has no {error}. Evaluate again with this version."
            ) from error
        except Exception as error:
            # JSON and NumPy raise errors of many types, which mean the same to the user.
            raise RunError(f"The evaluation in {folder} cannot be read ({error}).") from error

    @classmethod
    def _read(cls, folder: Path, predictor: Predictor) -> "StoredEvaluation":
        summary = json.loads((folder / "evaluation.json").read_bytes())
        with (
            (folder / "evaluation.npz").open("rb") as file,
            np.load(file, allow_pickle=False) as arrays,
        ):
            if predictor.is_tempered and f"{predictor}_accuracy" not in arrays:
                raise RunError(
                    f"{folder} was evaluated without temperatures. "
                    "Evaluate again without --no-temperature."
                )
            metrics = {name: _array(arrays, predictor, name) for name in MEAN_METRICS}
            bins = None
            if f"{predictor}_bins" in arrays:
                bins = _array(arrays, predictor, "bins")
        _check_lengths(folder, summary["episodes"], [*metrics.values(), bins])
        data = EvaluatedData(
            summary["data"], summary["data_checksum"], summary.get("data_identity")
        )
        return cls(folder, predictor, summary["protocol"], data, metrics, bins)


def _predictor_named(name: Predictor | str) -> Predictor:
    if name not in list(Predictor):
        raise SettingsError(f"There is no predictor {name!r}. Use one of {', '.join(Predictor)}.")
    return Predictor(name)


def _array(arrays: NpzFile, predictor: Predictor, name: str) -> NDArray[np.float64]:
    return arrays[f"{predictor}_{name}"].astype(np.float64)


def _check_lengths(folder: Path, episodes: int, arrays: list[NDArray[np.float64] | None]) -> None:
    """Refuse files of two evaluations: the writer may have stopped between the two files."""
    for array in arrays:
        if array is not None and len(array) != episodes:
            raise RunError(
                f"evaluation.json and evaluation.npz in {folder} do not belong together. "
                "Evaluate again."
            )


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
