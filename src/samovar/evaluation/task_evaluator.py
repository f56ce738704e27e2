"""Evaluates a model of any kind: runs the tasks of a protocol and makes results of the outcomes.

`Evaluation` is what comes of it: the results, and the metrics of each task.
"""

import io
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from lightning_fabric import Fabric

from samovar.core.progress import Progress, silent
from samovar.data.dataset import Dataset
from samovar.errors import DataError
from samovar.evaluation.differences import PairedDifferences
from samovar.evaluation.distributed import TASKS_AT_ONCE
from samovar.evaluation.fitted_rivals import FittedRivals
from samovar.evaluation.metrics import TaskMetrics
from samovar.evaluation.outcomes import Outcomes
from samovar.evaluation.per_class import per_class_metrics
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.results import EvaluatedModel, EvaluationResults, Metrics, RivalResults
from samovar.evaluation.rival_temperatures import fit_rivals
from samovar.evaluation.runner import Runner
from samovar.evaluation.task_runner import check_tasks
from samovar.evaluation.temperatures import Temperatures, fit_temperatures
from samovar.settings.tasks import Protocol

TEMPERATURE_TASKS = 300
"""Validation tasks on which temperatures are fitted."""


@dataclass(frozen=True)
class Evaluation:
    """The typed results over all tasks, and by predictor the metrics of each task."""

    results: EvaluationResults
    tasks: dict[Predictor, TaskMetrics]

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The results as evaluation.json stores them, such as `summary["accuracy"]["mean"]`."""
        return self.results.to_json()

    def tasks_file(self, *, bins: bool = True) -> bytes:
        """Return an npz file with the metrics of each task; a tenth as large without `bins`."""
        arrays = {}
        for predictor, metrics in self.tasks.items():
            for name, values in vars(metrics).items():
                if bins or name != "bins":
                    arrays[f"{predictor}_{name}"] = values.astype(np.float32)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        return buffer.getvalue()


class TaskEvaluator(ABC):
    """Evaluates a model under several protocols."""

    def __init__(self, dataset: Dataset, fabric: Fabric | None = None) -> None:
        self.dataset = dataset
        self.fabric = fabric
        self._checked: set[Protocol] = set()

    @property
    @abstractmethod
    def model(self) -> EvaluatedModel:
        """What the results say of the model."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """The hash of the model."""

    @abstractmethod
    def runner(self, protocol: Protocol) -> Runner[Any]:
        """Return what runs the tasks of a protocol."""

    @abstractmethod
    def norms(self, protocol: Protocol) -> set[str]:
        """Return the modes of batch norm that a protocol asks for."""

    def check(self, protocol: Protocol) -> None:
        """Raise an error if data or model do not allow a protocol, before any work is done."""
        if protocol in self._checked:
            return
        check_tasks(self.dataset.part(protocol.split), protocol, self.norms(protocol))
        self._checked.add(protocol)

    def evaluate(
        self,
        protocol: Protocol,
        *,
        temperature: bool = True,
        rivals: bool = False,
        progress: Progress = silent,
    ) -> Evaluation:
        """Evaluate the model under a protocol, with fitted temperatures if `temperature`.

        With `rivals`, simple classifiers answer the same tasks, on the same features.
        """
        self.check(protocol)
        # The validation tasks come first: the temperatures are applied while the tasks are run.
        temperatures = Temperatures({}, "not fitted, as requested")
        if temperature:
            temperatures = self._temperatures(protocol)
        fitted = None
        if rivals:
            fitted = self.fitted_rivals(protocol, temperature=temperature)
        outcomes = self.runner(protocol).outcomes(
            protocol, temperatures.predictions, progress, fitted
        )
        tasks = {Predictor(name): TaskMetrics.of(outcomes[name]) for name in outcomes}
        metrics = {}
        for predictor in tasks:
            if not predictor.is_rival:
                metrics[predictor] = Metrics.of(
                    outcomes[predictor], tasks[predictor], protocol.seed, temperatures.of(predictor)
                )
        results = self._results(
            protocol, metrics, outcomes[Predictor.PREDICTIVE], temperatures.note
        )
        if fitted is not None:
            beside = _rival_results(outcomes, tasks, fitted, protocol.seed)
            results = replace(results, rivals=beside)
        return Evaluation(results, tasks)

    def fitted_rivals(self, protocol: Protocol, *, temperature: bool = True) -> FittedRivals:
        """Fit the rivals' temperatures on validation tasks, or say why there are none."""
        if not temperature:
            return FittedRivals({}, "not fitted, as requested")
        try:
            validation = self._validation_tasks(protocol)
        except DataError as error:
            return FittedRivals({}, f"none: {error}")
        return fit_rivals(self.runner(validation), validation)

    def _results(
        self,
        protocol: Protocol,
        metrics: dict[Predictor, Metrics],
        predictive: Outcomes,
        temperature_note: str,
    ) -> EvaluationResults:
        """Add to the metrics what was evaluated, on which data, and how."""
        runner = self.runner(protocol)
        dataset = runner.dataset
        return EvaluationResults(
            protocol=protocol,
            norm="/".join(sorted(runner.norms)) or "none",
            model=self.model,
            model_identity=self.identity,
            data=dataset.description,
            data_checksum=dataset.store.facts["checksum"],
            data_identity=dataset.identity,
            metrics=metrics,
            temperature_note=temperature_note,
            classes=per_class_metrics(dataset.class_names, predictive),
        )

    def _temperatures(self, protocol: Protocol) -> Temperatures:
        """Fit temperatures on validation tasks of the same shape, or say why there are none."""
        try:
            validation = self._validation_tasks(protocol)
        except DataError as error:
            return Temperatures({}, f"none: {error}")
        return fit_temperatures(self.runner(validation), validation)

    def _validation_tasks(self, protocol: Protocol) -> Protocol:
        """Return a protocol of validation tasks of the same shape; raise where there are none."""
        if protocol.split == "val":
            raise DataError("they are fitted on the validation classes, which are evaluated here")
        processes = 1
        if self.fabric is not None:
            processes = self.fabric.world_size
        # Every process needs tasks to work on, but fitting should not take longer than evaluating.
        wanted = min(max(TEMPERATURE_TASKS, TASKS_AT_ONCE * processes), protocol.episodes)
        validation = replace(protocol, split="val", episodes=wanted, outside=0)
        self.check(validation)
        return validation


def _rival_results(
    outcomes: dict[str, Outcomes],
    tasks: dict[Predictor, TaskMetrics],
    fitted: FittedRivals,
    seed: int,
) -> RivalResults:
    """Summarise the rivals, and what the model's predictive gains over each."""
    metrics = {}
    differences = {}
    for rival in tasks:
        if rival.is_rival:
            metrics[rival] = Metrics.of(
                outcomes[rival], tasks[rival], seed, fitted.temperature_of(rival)
            )
            differences[rival] = PairedDifferences.of(
                tasks[Predictor.PREDICTIVE], tasks[rival], seed
            )
    return RivalResults(metrics, differences, fitted.note)
