"""Measure coverage and size of prediction sets on many tasks, beside MAPIE; prints JSON.

    python benchmarks/sets.py --vectors cub.npz mini.npz ... --out results/sets.json
    python benchmarks/sets_tables.py results/sets.json              # the tables of docs/sets.md

Each file holds the vectors of one collection, as `samovar embed` writes them. A task of the model
`photos` is fitted, and each class has as many held-out images as images to be tested (at most ten).
Methods: full conformal by the support alone, for all images and per class; split conformal by the
held-out images; MAPIE's split conformal by the same probabilities and images; and the quantile of
plain leave-one-out scores, which nothing guarantees. At one shot, the transferred quantile
(measured without the collection that it is tested on, if `--trained-on` names the others).

Coverage is the share of tested images whose set has their class; intervals are over tasks.
"""

import json
import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from mapie.classification import SplitConformalClassifier
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from samovar import SavedModel
from samovar.artifacts.saved_regression import SavedRegression
from samovar.classifier.answer import AnswerParameters, probabilities_of
from samovar.classifier.fitted_regression import FittedRegression, fit_regression
from samovar.classifier.known_scores import KnownScores
from samovar.classifier.sets import SetMethod, SetRequest, predict_sets
from samovar.core.files import write_whole
from samovar.data.collections import VectorCollection, VectorTask
from samovar.evaluation.transferred_quantiles import measure_regression_quantiles
from samovar.models.closed_form import mean_field
from samovar.prediction.conformal import (
    members,
    nonconformity,
    p_values,
    p_values_by_class,
    scores_needed,
)
from samovar.prediction.full_conformal import full_conformal

Array = NDArray[np.float64]
Sets = NDArray[np.bool_]
PARAMETERS = AnswerParameters()
MAPIE = "split conformal by MAPIE"
JACKKNIFE = "plain leave-one-out quantile"


@dataclass(frozen=True)
class Arguments:
    """What to measure."""

    vectors: tuple[Path, ...] = ()
    """Files of vectors to test on."""
    trained_on: tuple[Path, ...] = ()
    """Files of vectors for the transferred quantiles; the tested one is left out."""
    same_source: tuple[str, ...] = ()
    """Names of collections that share images: when one is tested, none is transferred from."""
    tasks: int = 40
    ways: tuple[int, ...] = (2, 5, 10, 20)
    shots: tuple[int, ...] = (1, 2, 5, 10, 20)
    confidences: tuple[float, ...] = (0.8, 0.9, 0.95)
    queries: int = 10
    """Tested images of each class, and held-out images of each class."""
    out: Path | None = None


@dataclass
class Tally:
    """The sets of one method at one confidence, over tasks of one shape."""

    coverage: list[float] = field(default_factory=list)
    size: list[float] = field(default_factory=list)
    empty: list[float] = field(default_factory=list)
    empty_outside: list[float] = field(default_factory=list)

    def add(self, sets: Sets, labels: NDArray[np.int64]) -> None:
        """Add the sets of a task; those beyond the labels are of images of no class."""
        inside = sets[: len(labels)]
        self.coverage.append(float(inside[np.arange(len(labels)), labels].mean()))
        self.size.append(float(inside.sum(1).mean()))
        self.empty.append(float((~inside.any(1)).mean()))
        if len(sets) > len(labels):
            self.empty_outside.append(float((~sets[len(labels) :].any(1)).mean()))

    def to_json(self) -> dict[str, Any]:
        """Return the means over tasks."""
        half = 1.96 * float(np.std(self.coverage, ddof=1)) / math.sqrt(len(self.coverage))
        outside = float(np.mean(self.empty_outside)) if self.empty_outside else None
        return {
            "tasks": len(self.coverage),
            "coverage": float(np.mean(self.coverage)),
            "coverage_ci95": half,
            "size": float(np.mean(self.size)),
            "empty": float(np.mean(self.empty)),
            "empty_outside": outside,
        }


class Prefit(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The probabilities of a fitted task as MAPIE wants them: a classifier of vectors."""

    def __init__(self, fitted: FittedRegression | None = None) -> None:
        self.fitted = fitted
        self.classes_ = np.arange(0 if fitted is None else len(fitted.task.classes))

    def fit(self, *_: Any) -> "Prefit":
        """Do nothing: the task is fitted already."""
        return self

    def predict_proba(self, X: Any) -> Array:  # noqa: N803
        """Return probabilities (n, N)."""
        assert self.fitted is not None
        return probabilities_of(self.fitted.predict(list(torch.as_tensor(X)), PARAMETERS))

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return the most probable class."""
        return self.predict_proba(X).argmax(1)


@dataclass(frozen=True)
class TestedTask:
    """A task that is fitted, with held-out images and images to be tested."""

    fitted: FittedRegression
    held_out: torch.Tensor
    held_out_labels: NDArray[np.int64]
    tested: torch.Tensor
    """Those of the task's classes first, then as many of none."""
    labels: NDArray[np.int64]

    @classmethod
    def of(cls, saved: SavedRegression, task: VectorTask) -> "TestedTask":
        """Fit a task; of its queries, every other one is held out."""
        fitted = fit_regression(saved, list(task.support), task.support_labels.tolist())
        labels = task.query_labels.numpy()
        tested = torch.cat([task.query[1::2], task.outside[: len(task.query[1::2])]])
        return cls(fitted, task.query[::2], labels[::2], tested, labels[1::2])

    def probabilities(self, vectors: torch.Tensor) -> Array:
        """Return the answer to images."""
        return probabilities_of(self.fitted.predict(list(vectors), PARAMETERS))

    def p_values(self) -> Iterator[tuple[str, int, Array]]:
        """Yield methods, the images that they have (of the smallest class), and p-values."""
        regression = self.fitted.regression
        if int(self.fitted.task.counts.min()) > 1:
            for ending, per_class in (("", False), (" per class", True)):
                found = full_conformal(regression, self.tested, per_class=per_class)
                yield f"{SetMethod.FULL}{ending}", int(found.compared.min()), found.values
        misfits = nonconformity(self.probabilities(self.tested))
        held_out = self.probabilities(self.held_out)
        classes = range(held_out.shape[1])
        known = KnownScores.of(held_out, self.held_out_labels.tolist(), classes)
        scores = np.array(known.scores)
        yield SetMethod.SPLIT, len(known), p_values(misfits, scores)
        by_class = p_values_by_class(misfits, scores, np.array(known.numbers))
        fewest = int(known.counts(len(classes)).min())
        yield f"{SetMethod.SPLIT} per class", fewest, by_class
        if int(self.fitted.task.counts.min()) > 1:
            left_out = self.left_out_scores()
            yield JACKKNIFE, len(left_out), p_values(misfits, left_out)

    def left_out_scores(self) -> Array:
        """Return the scores of the support's left-out images, as the task itself answers them."""
        regression = self.fitted.regression
        logits = regression.left_out_logits()
        left_out = torch.zeros_like(logits.mean)
        grid = zip(regression.log_temperatures, regression.temperature_weights, strict=True)
        for log_temperature, weight in grid:
            left_out = left_out + weight * mean_field(logits, log_temperature).softmax(-1)
        own = left_out.gather(1, regression.labels[:, None]).squeeze(1)
        return nonconformity(own.numpy())

    def mapie(self, confidences: list[float]) -> NDArray[np.bool_]:
        """Return MAPIE's sets (n, N, confidences) by the same held-out images."""
        conformal = SplitConformalClassifier(
            Prefit(self.fitted), confidence_level=confidences, conformity_score="lac", prefit=True
        )
        conformal.conformalize(self.held_out.numpy(), self.held_out_labels)
        sets: NDArray[np.bool_] = conformal.predict_set(self.tested.numpy())[1]
        return sets


def sets_of(task: TestedTask, confidences: tuple[float, ...]) -> Iterator[tuple[str, float, Sets]]:
    """Yield the sets of every method at every confidence that its images support."""
    for name, images, values in task.p_values():
        for confidence in confidences:
            if images >= scores_needed(confidence):
                yield name, confidence, members(values, confidence)
    # MAPIE wants one image more than are needed.
    supported = [level for level in confidences if len(task.held_out) > scores_needed(level) + 1]
    if supported:
        by_mapie = task.mapie(supported)
        for number, confidence in enumerate(supported):
            yield MAPIE, confidence, by_mapie[:, :, number]


def transferred(
    task: TestedTask, confidences: tuple[float, ...]
) -> Iterator[tuple[str, float, Sets]]:
    """Yield the sets of a task with one image of each class, by quantiles of other tasks."""
    probabilities = task.probabilities(task.tested)
    for confidence in confidences:
        found = predict_sets(
            task.fitted, list(task.tested), probabilities, SetRequest(confidence), PARAMETERS
        )
        yield found.method, confidence, found.members


def measure(
    saved: SavedRegression, collection: VectorCollection, shape: tuple[int, int], wanted: Arguments
) -> list[dict[str, Any]]:
    """Measure every method on tasks of one shape."""
    way, shot = shape
    tallies: dict[tuple[str, float], Tally] = {}
    different = 0
    for number in range(wanted.tasks):
        drawn = collection.task(way, shot, 2 * wanted.queries, key=(11, "sets benchmark", number))
        task = TestedTask.of(saved, drawn)
        made = list(sets_of(task, wanted.confidences))
        if shot == 1:
            made += transferred(task, wanted.confidences)
        by_name = {}
        for name, confidence, sets in made:
            tallies.setdefault((name, confidence), Tally()).add(sets, task.labels)
            by_name[name, confidence] = sets
        for confidence in wanted.confidences:
            if (MAPIE, confidence) in by_name:
                ours = by_name[SetMethod.SPLIT, confidence]
                different += int((ours != by_name[MAPIE, confidence]).any(1).sum())
    rows = []
    for (name, confidence), tally in tallies.items():
        row = {"collection": collection.name, "way": way, "shot": shot, "method": str(name)}
        rows.append(row | {"confidence": confidence} | tally.to_json())
    print(json.dumps({"sets_that_differ_from_mapie": different, "rows": rows}), flush=True)
    return [row | {"different": different} for row in rows]


def model_for(collection: VectorCollection, wanted: Arguments) -> SavedRegression:
    """Return `photos` with transferred quantiles that the tested collection had no part in."""
    saved = SavedModel.from_pretrained("photos")
    assert isinstance(saved, SavedRegression)
    if not wanted.trained_on:
        return saved
    others = []
    related = {collection.name}
    if collection.name in wanted.same_source:
        related |= set(wanted.same_source)
    for path in wanted.trained_on:
        if path.stem not in related:
            others.append(VectorCollection.read(path))
    quantiles = measure_regression_quantiles(saved.model, others, seed=0)
    return replace(saved, set_quantiles=quantiles)


def main() -> None:
    """Measure all shapes on all collections."""
    wanted = tyro.cli(Arguments, description=__doc__)
    # A class without held-out images is none of MAPIE's business here.
    warnings.filterwarnings("ignore", module="mapie")
    results = []
    for path in wanted.vectors:
        collection = VectorCollection.read(path)
        saved = model_for(collection, wanted)
        for way in wanted.ways:
            for shot in wanted.shots:
                # Each class needs a held-out image and one to be tested.
                if collection.allows(way, shot + 1):
                    results += measure(saved, collection, (way, shot), wanted)
    if wanted.out is not None:
        content = {"format": 1, "tasks": wanted.tasks, "results": results}
        write_whole(wanted.out, json.dumps(content, indent=1).encode())


if __name__ == "__main__":
    main()
