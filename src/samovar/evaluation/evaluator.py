"""Evaluates a model: runs the tasks of a protocol and turns their outcomes into results.

`evaluate` is the public function for one protocol. `Evaluator` serves several protocols and embeds
the images of each split only once. `Evaluation` is what both return: the results, and the metrics
of each task.
"""

import copy
import io
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from lightning_fabric import Fabric

from samovar.artifacts.saved_model import SavedModel
from samovar.core.devices import device_named
from samovar.core.progress import Progress, silent
from samovar.data.dataset import Dataset
from samovar.data.preparation import ready
from samovar.errors import DataError
from samovar.evaluation.distributed import TASKS_AT_ONCE
from samovar.evaluation.metrics import TaskMetrics
from samovar.evaluation.outcomes import Outcomes
from samovar.evaluation.per_class import per_class_metrics
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.results import EvaluationResults, Metrics
from samovar.evaluation.task_runner import TaskRunner, check_input, check_tasks
from samovar.evaluation.temperatures import Temperatures, fit_temperatures
from samovar.models.backbones.layers import norm_modes, set_norm
from samovar.models.few_shot_model import channels_last
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


class Evaluator:
    """Evaluates a model under several protocols, and embeds each split of the data once."""

    def __init__(
        self,
        saved: SavedModel,
        dataset: Dataset,
        device: torch.device | str = "cpu",
        fabric: Fabric | None = None,
    ) -> None:
        check_input(saved.model.settings, dataset)
        self.saved = saved
        self.dataset = dataset
        self.device = device_named(str(device))
        self.fabric = fabric
        self._runners: dict[tuple[str, str], TaskRunner] = {}
        self._checked: set[Protocol] = set()

    def runner(self, protocol: Protocol) -> TaskRunner:
        """Return the runner for a protocol's split and batch norm; it embeds the split once."""
        key = (protocol.split, protocol.norm)
        if key not in self._runners:
            # The model of the caller keeps its device and its batch norm.
            model = copy.deepcopy(self.saved.model).to(self.device)
            if protocol.norm != "as trained":
                set_norm(model, protocol.norm)
            channels_last(model)
            dataset = self.dataset.part(protocol.split)
            self._runners[key] = TaskRunner(
                model, dataset, self.saved.normalisation, self.device, self.fabric
            )
        return self._runners[key]

    def check(self, protocol: Protocol) -> None:
        """Raise an error if data or model do not allow a protocol, before any work is done."""
        if protocol in self._checked:
            return
        norms = {str(protocol.norm)}
        if protocol.norm == "as trained":
            norms = norm_modes(self.saved.model)
        check_tasks(self.dataset.part(protocol.split), protocol, norms)
        self._checked.add(protocol)

    def evaluate(
        self, protocol: Protocol, *, temperature: bool = True, progress: Progress = silent
    ) -> Evaluation:
        """Evaluate the model under a protocol, with fitted temperatures if `temperature`."""
        self.check(protocol)
        # The validation tasks come first: the temperatures are applied while the tasks are run.
        temperatures = Temperatures({}, "not fitted, as requested")
        if temperature:
            temperatures = self._temperatures(protocol)
        outcomes = self.runner(protocol).outcomes(protocol, temperatures.predictions, progress)
        tasks = {}
        metrics = {}
        for name in outcomes:
            predictor = Predictor(name)
            tasks[predictor] = TaskMetrics.of(outcomes[name])
            metrics[predictor] = Metrics.of(
                outcomes[name], tasks[predictor], protocol.seed, temperatures.of(predictor)
            )
        results = self._results(
            protocol, metrics, outcomes[Predictor.PREDICTIVE], temperatures.note
        )
        return Evaluation(results, tasks)

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
            norm="/".join(sorted(norm_modes(runner.model))) or "none",
            model=self.saved.model.settings,
            model_identity=self.saved.identity,
            data=dataset.description,
            data_checksum=dataset.store.facts["checksum"],
            data_identity=dataset.identity,
            metrics=metrics,
            temperature_note=temperature_note,
            classes=per_class_metrics(dataset.class_names, predictive),
        )

    def _temperatures(self, protocol: Protocol) -> Temperatures:
        """Fit temperatures on validation tasks of the same shape, or say why there are none."""
        if protocol.split == "val":
            reason = "they are fitted on the validation classes, which are evaluated here"
            return Temperatures({}, f"none: {reason}")
        processes = 1
        if self.fabric is not None:
            processes = self.fabric.world_size
        # Every process needs tasks to work on, but fitting should not take longer than evaluating.
        wanted = min(max(TEMPERATURE_TASKS, TASKS_AT_ONCE * processes), protocol.episodes)
        validation = replace(protocol, split="val", episodes=wanted, outside=0)
        try:
            self.check(validation)
        except DataError as error:
            return Temperatures({}, f"none: {error}")
        return fit_temperatures(self.runner(validation), validation)


def evaluate(
    saved: SavedModel,
    protocol: Protocol,
    dataset: Dataset | None = None,
    device: torch.device | str = "cpu",
    *,
    temperature: bool = True,
    progress: Progress = silent,
) -> Evaluation:
    """Evaluate a model on tasks of a data set, by default the one that it was trained on.

    Accuracy, NLL and Brier score have 95 % intervals over tasks, the calibration error has one from
    a bootstrap over tasks. `temperature` adds the predictors with a temperature that is fitted on
    validation tasks.

    `evaluate(model, Protocol(shot=5)).summary["accuracy"]["mean"]` is the accuracy over 5000 tasks.
    """
    dataset = dataset or training_dataset(saved, protocol.split)
    evaluator = Evaluator(saved, dataset, device)
    return evaluator.evaluate(protocol, temperature=temperature, progress=progress)


def training_dataset(saved: SavedModel, split: str, progress: Progress = silent) -> Dataset:
    """Open a split of the data that a model was trained on; prepare it first if needed."""
    if "settings" not in saved.training:
        raise DataError(
            "This model does not record what it was trained on. Name the data to evaluate on."
        )
    data = saved.training["settings"]["data"]
    store = ready(data["name"], progress)
    # The splits of known sources never change; those of a user's data may.
    from_user = store.facts.get("source_name") in ("folder", "features")
    trained_on = saved.training.get("data_identity", store.identity)
    if from_user and trained_on != store.identity:
        raise DataError(
            f"{store.name} has been prepared again since this model was trained, from other data "
            "or with another split, so its test classes may have been used for training. "
            "Prepare it as it was, or name the data to use."
        )
    return Dataset(store, split, scheme=data["scheme"], rotations=data["rotations"])
