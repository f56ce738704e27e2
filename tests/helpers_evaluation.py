"""Results of evaluations without a model, for tests of metrics, tables and pictures."""

from pathlib import Path

import torch
from helpers_photos import clouds

from samovar.data.dataset import Dataset
from samovar.data.store import ClassEntry, Contents
from samovar.data.store_writer import write_store
from samovar.encoders.base import Encoder
from samovar.evaluation.differences import PairedDifferences
from samovar.evaluation.metrics import TaskMetrics
from samovar.evaluation.outcomes import OUTSIDE, Outcomes
from samovar.evaluation.per_class import ClassMetrics, ClassRanking, HardClass, Mistake
from samovar.evaluation.predictors import OF_MODEL, RIVALS, Predictor
from samovar.evaluation.results import EvaluationResults, Metrics, RivalResults
from samovar.prediction.predictive import Prediction, entropy_of
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import Protocol


def random_prediction(tasks: int = 6, queries: int = 10, way: int = 3, seed: int = 0) -> Prediction:
    generator = torch.Generator().manual_seed(seed)
    probabilities = torch.randn(tasks, queries, way, generator=generator).mul(2).softmax(-1)
    return Prediction(probabilities, entropy_of(probabilities))


def random_labels(tasks: int = 6, queries: int = 10, way: int = 3) -> torch.Tensor:
    generator = torch.Generator().manual_seed(100)
    return torch.randint(way, (tasks, queries), generator=generator)


def metrics_of(predictor: Predictor, seed: int = 0) -> Metrics:
    """Metrics of random predictions; tempered predictors have the temperature 1.5."""
    outcomes = Outcomes.of(random_prediction(seed=seed), random_labels())
    temperature = 1.5 if predictor.is_tempered else None
    return Metrics.of(outcomes, TaskMetrics.of(outcomes), 0, temperature)


def make_results(
    predictors: tuple[Predictor, ...] = OF_MODEL,
    protocol: Protocol | None = None,
    name: str = "class 0",
    **changes,
) -> EvaluationResults:
    """Results by these predictors, with one hard class that is mistaken for `name`."""
    hard = HardClass("hard", 10, 0.2, [Mistake(name, 0.7)])
    fields = {
        "protocol": protocol or Protocol(3, 1, 4, episodes=6, samples=5),
        "norm": "running",
        "model": ModelSettings(size=12, width=4),
        "model_identity": "model",
        "data": "toy (test, 4 classes)",
        "data_checksum": "checksum",
        "data_identity": "identity",
        "metrics": {predictor: metrics_of(predictor) for predictor in predictors},
        "temperature_note": "fitted on 300 tasks",
        "classes": ClassRanking([hard], [ClassMetrics(name, 10, 1.0)]),
    }
    return EvaluationResults(**fields | changes)


def make_rivals(*, outside: bool = True) -> RivalResults:
    """Random metrics of every rival, with and without temperatures, and queries from outside."""
    labels = random_labels()
    if outside:
        labels[:, -3:] = OUTSIDE
    distance = torch.arange(60.0).reshape(6, 10)
    ours = TaskMetrics.of(Outcomes.of(random_prediction(seed=9), labels))
    metrics = {}
    differences = {}
    for seed, rival in enumerate(RIVALS):
        for predictor in (rival, rival.tempered):
            prediction = random_prediction(seed=seed)
            outcomes = Outcomes.of(prediction, labels, distance, energy=-distance)
            theirs = TaskMetrics.of(outcomes)
            temperature = 1.5 if predictor.is_tempered else None
            metrics[predictor] = Metrics.of(outcomes, theirs, 0, temperature)
            differences[predictor] = PairedDifferences.of(ours, theirs, 0)
    return RivalResults(metrics, differences, "fitted on 300 tasks")


def vector_dataset(folder: Path, encoder: Encoder | None = None) -> Dataset:
    """The test split of a store of 12 classes of vectors, which perhaps knows their encoder."""
    vectors, labels = clouds(classes=12, each=20)
    names = [f"class {position}" for position in range(12)]
    contents = Contents(
        [ClassEntry(name, 20) for name in names],
        vectors.shape[1:],
        lambda position: vectors[labels == position],
        {"own": {"train": names[:4], "val": names[4:8], "test": names[8:]}},
        dtype="float32",
        encoder=None if encoder is None else encoder.to_json(),
    )
    facts = {"source_name": "features", "title": "clouds", "licence": "none", "citation": ""}
    return Dataset(write_store("clouds", facts, contents, folder), "test")
