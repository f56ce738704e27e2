"""Two models, or two ways of predicting, on the same tasks: the paired difference, and the spread over seeds."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from samovar.artifacts.locate import evaluation_folder, locate_model, shipped_models
from samovar.errors import RunError, SettingsError
from samovar.evaluation.metrics import (
    expected_calibration_error,
    mean_with_interval,
    resampled_bins,
)

PREDICTORS = ("predictive", "mean_classifier", "predictive_tempered", "mean_classifier_tempered")
FIGURES = ("accuracy", "nll", "brier")


@dataclass(frozen=True)
class StoredEvaluation:
    """The stored evaluation of one model by one way of predicting: arrays with a row for each task."""

    folder: Path
    protocol: dict[str, Any]
    data: tuple[str, str, str | None]
    """Description, checksum of the images, and identity of images and classes (None if it was measured long ago)."""
    figures: dict[str, NDArray[np.float64]]

    @classmethod
    def read(cls, path: Path, way: str) -> "StoredEvaluation":
        """From an evaluation folder, or a run, a model folder or a shipped model that has been evaluated."""
        if way not in PREDICTORS:
            raise SettingsError(
                f"There is no way of predicting called {way!r}; there are {', '.join(PREDICTORS)}."
            )
        folder = _evaluated(path)
        try:
            summary = json.loads((folder / "evaluation.json").read_bytes())
            with (
                (folder / "evaluation.npz").open("rb") as file,
                np.load(file, allow_pickle=False) as stored,
            ):
                if "_tempered" in way and f"{way}_accuracy" not in stored:
                    raise RunError(
                        f"{folder} was evaluated without temperatures. Evaluate without --no-temperature."
                    )
                names = (*FIGURES, "bins") if f"{way}_bins" in stored else FIGURES
                arrays = {name: stored[f"{way}_{name}"].astype(np.float64) for name in names}
            if {len(array) for array in arrays.values()} != {
                summary["episodes"]
            }:  # cut between the two files
                raise RunError(
                    f"The files of the evaluation in {folder} do not belong together. Evaluate again."
                )
            data = (summary["data"], summary["data_checksum"], summary.get("data_identity"))
            return cls(folder, summary["protocol"], data, arrays)
        except RunError:
            raise
        except KeyError as error:
            raise RunError(
                f"The evaluation in {folder} has no {error}. Evaluate again with this version."
            ) from error
        except (
            Exception
        ) as error:  # JSON and NumPy's archives fail in many ways, which mean the same to the user
            raise RunError(f"The evaluation in {folder} cannot be read ({error}).") from error


def _evaluated(path: Path) -> Path:
    """The folder with the evaluation that is meant."""
    places = [path, path / "evaluation"]
    if path.exists() or str(path) in shipped_models():  # nothing is fetched to compare
        places.append(evaluation_folder(locate_model(str(path))))
    for place in places:
        if (place / "evaluation.json").exists():
            return place
    if several := sorted(
        str(each.parent) for place in places for each in place.glob("*/evaluation.json")
    ):
        raise RunError(
            f"{path} holds evaluations in folders of their own; name one of them: {', '.join(several)}"
        )
    raise RunError(f"{path} has no evaluation. Make one: samovar evaluate {path}")


def check_same(measured: list[StoredEvaluation]) -> None:
    """Refuse unequal protocols or data, by what differs."""
    first = measured[0]
    for other in measured[1:]:
        names = [
            name
            for name in first.protocol
            if first.protocol[name] != other.protocol.get(name) and name != "text"
        ]
        unlike = [
            f"{name} ({first.protocol[name]} and {other.protocol.get(name)})" for name in names
        ]
        known = 3 if first.data[2] and other.data[2] else 2
        if first.data[:known] != other.data[:known]:
            unlike.append(f"data or its split ({first.data[0]} and {other.data[0]})")
        if unlike:
            raise RunError(
                f"{first.folder} and {other.folder} were measured differently: {', '.join(unlike)}. "
                "Evaluate both with the same flags."
            )


def compare(
    first: list[StoredEvaluation], second: list[StoredEvaluation], *, seed: int = 0
) -> dict[str, Any]:
    """First minus second, on the same tasks. Each is a list of training seeds of one method, or a single model.

    `paired`: the difference of the means over the seeds of each group, with its 95 % interval over tasks: a statement
    on these models and tasks drawn from these classes. `seeds`: mean and standard deviation over the training seeds,
    and the difference of methods with a 95 % interval by Welch's t, where both groups have two seeds or more. `seed` is
    that of the bootstrap for the calibration error.
    """
    check_same([*first, *second])
    for group in (first, second):
        if len({each.folder.resolve() for each in group}) < len(group):
            raise RunError(
                "The same evaluation is given twice as another training seed. Give each once."
            )
    paired: dict[str, Any] = {}
    for name in FIGURES:
        means = [
            np.mean([each.figures[name] for each in group], axis=0) for group in (first, second)
        ]
        paired[name] = mean_with_interval(means[0] - means[1])
    paired["ece"] = _calibration_difference(first, second, seed)
    return {
        "format": 1,
        "protocol": first[0].protocol,
        "data": first[0].data[0],
        "first": [str(each.folder) for each in first],
        "second": [str(each.folder) for each in second],
        "paired": paired,
        "seeds": {name: _over_seeds(first, second, name) for name in FIGURES},
    }


def _calibration_difference(
    first: list[StoredEvaluation], second: list[StoredEvaluation], seed: int
) -> dict[str, Any] | None:
    """Difference of pooled calibration errors (mean over seeds), by bootstrap over the same tasks for all.

    None where the bins of each task were not kept.
    """
    if not all("bins" in each.figures for each in (*first, *second)):
        return None

    def errors(group: list[StoredEvaluation]) -> NDArray[np.float64]:
        each = [
            [expected_calibration_error(b) for b in resampled_bins(m.figures["bins"], seed)]
            for m in group
        ]
        return np.mean(each, axis=0)

    def value(group: list[StoredEvaluation]) -> float:
        return float(
            np.mean([expected_calibration_error(each.figures["bins"].sum(0)) for each in group])
        )

    low, high = np.quantile(errors(first) - errors(second), [0.025, 0.975])
    return {"mean": value(first) - value(second), "ci95": [float(low), float(high)]}


def _over_seeds(
    first: list[StoredEvaluation], second: list[StoredEvaluation], name: str
) -> dict[str, Any]:
    groups = [[float(each.figures[name].mean()) for each in group] for group in (first, second)]
    result: dict[str, Any] = {}
    for label, values in zip(("first", "second"), groups, strict=True):
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
        result[label] = {"means": values, "mean": float(np.mean(values)), "std": spread}
    result["difference"] = _welch(*groups) if min(map(len, groups)) > 1 else None
    return result


def _welch(first: list[float], second: list[float]) -> dict[str, float] | None:
    """None where no seed differs from another, so that there is no spread to go by."""
    variances = [np.var(each, ddof=1) / len(each) for each in (first, second)]
    total = sum(variances)
    if total == 0:
        return None
    freedom = total**2 / sum(
        v**2 / (len(g) - 1) for v, g in zip(variances, (first, second), strict=True)
    )
    return {
        "mean": float(np.mean(first) - np.mean(second)),
        "ci95": float(stats.t.ppf(0.975, freedom) * np.sqrt(total)),
        "degrees_of_freedom": float(freedom),
    }
