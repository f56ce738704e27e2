"""Figures of a model over many tasks, with their intervals."""

import copy
import io
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from lightning_fabric import Fabric
from numpy.typing import NDArray

from samovar.artifacts.saved_model import SavedModel
from samovar.core.devices import device_named
from samovar.core.progress import Progress, silent
from samovar.data.dataset import Dataset
from samovar.data.preparation import ready
from samovar.errors import DataError
from samovar.evaluation.distributed import TASKS_AT_ONCE
from samovar.evaluation.metrics import TaskMetrics, calibration, mean_with_interval, reliability
from samovar.evaluation.outcomes import Outcomes
from samovar.evaluation.per_class import per_class_metrics
from samovar.evaluation.task_runner import TaskRunner, both_predictors, check_input, check_tasks
from samovar.evaluation.uncertainty import risk_coverage, uncertainties
from samovar.models.backbones.layers import norm_modes, set_norm
from samovar.models.few_shot_model import channels_last
from samovar.prediction.predictive import Prediction
from samovar.prediction.temperature import fit_temperature, log_probabilities, tempered
from samovar.settings.tasks import Protocol

TEMPERATURE_TASKS = 300
"""Validation tasks on which temperatures are fitted."""


@dataclass(frozen=True)
class Accuracy:
    """Mean accuracy with the half-width of its 95 % interval over tasks, 1.96 std / sqrt(tasks); fractions."""

    mean: float
    ci95: float
    tasks: NDArray[np.float64]

    @classmethod
    def of(cls, tasks: NDArray[np.float64]) -> "Accuracy":
        """From the accuracy of each task."""
        return cls(**mean_with_interval(tasks), tasks=tasks)

    def __str__(self) -> str:
        return f"{100 * self.mean:.2f} ± {100 * self.ci95:.2f} %"


def measure_accuracy(evaluator: TaskRunner, protocol: Protocol) -> Accuracy:
    """Accuracy of the predictive alone."""
    return Accuracy.of(TaskMetrics.of(evaluator.outcomes(protocol)["predictive"]).accuracy)


@dataclass(frozen=True)
class Evaluation:
    """Figures of a model under a protocol: `summary` is what evaluation.json holds, `tasks` has a row for each task."""

    summary: dict[str, Any]
    tasks: dict[str, TaskMetrics]

    def tasks_file(self, *, bins: bool = True) -> bytes:
        """An npz file with the figures of each task; without the calibration bins it is a tenth as large."""
        arrays = {
            f"{way}_{name}": value.astype(np.float32)
            for way, each in self.tasks.items()
            for name, value in vars(each).items()
            if bins or name != "bins"
        }
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        return buffer.getvalue()


class Evaluator:
    """Evaluates a model under several protocols; tasks of one part of the data share its embedding."""

    def __init__(
        self,
        saved: SavedModel,
        dataset: Dataset,
        device: torch.device | str = "cpu",
        fabric: Fabric | None = None,
    ) -> None:
        self.saved, self.dataset, self.device, self.fabric = (
            saved,
            dataset,
            device_named(str(device)),
            fabric,
        )
        self._evaluators: dict[tuple[str, str], TaskRunner] = {}

    def tasks(self, protocol: Protocol) -> TaskRunner:
        """The evaluator of the protocol's part of the data, under its batch norm."""
        key = (protocol.split, protocol.norm)
        if key not in self._evaluators:
            model = copy.deepcopy(self.saved.model).to(self.device)
            if protocol.norm != "as trained":
                set_norm(model, protocol.norm)
            channels_last(model)
            dataset = self.dataset.part(protocol.split)
            self._evaluators[key] = TaskRunner(
                model, dataset, self.saved.normalisation, self.device, self.fabric
            )
        return self._evaluators[key]

    def check(self, protocol: Protocol) -> None:
        """Complain before any work is done."""
        check_input(self.saved.model.settings, self.dataset)
        norms = (
            norm_modes(self.saved.model) if protocol.norm == "as trained" else {str(protocol.norm)}
        )
        check_tasks(self.dataset.part(protocol.split), protocol, norms)

    def evaluate(
        self, protocol: Protocol, *, temperature: bool = True, progress: Progress = silent
    ) -> Evaluation:
        """All figures under a protocol."""
        self.check(protocol)
        temperatures, note = self._temperatures(protocol) if temperature else ({}, "not asked for")

        def ways(sampled: Prediction, at_mean: Prediction) -> dict[str, Prediction]:
            plain = both_predictors(sampled, at_mean)
            return plain | {
                f"{name}_tempered": tempered(plain[name], value)
                for name, value in temperatures.items()
            }

        evaluator = self.tasks(protocol)
        answers = evaluator.outcomes(protocol, ways, progress)
        figures = {name: TaskMetrics.of(each) for name, each in answers.items()}
        summaries = {
            name: _summary(each, figures[name], protocol.seed) for name, each in answers.items()
        }
        for name, value in temperatures.items():
            summaries[f"{name}_tempered"] = {"temperature": value} | summaries[f"{name}_tempered"]
        norm = "/".join(sorted(norm_modes(evaluator.model))) or "none"
        summary = {
            "format": 2,
            "protocol": asdict(protocol) | {"norm": norm, "text": f"{protocol}, {norm} norm"},
            "model": asdict(self.saved.model.settings),
            "model_identity": self.saved.identity,
            "data": evaluator.dataset.description,
            "data_checksum": evaluator.dataset.store.facts["checksum"],
            "data_identity": evaluator.dataset.identity,
            "episodes": protocol.episodes,
            **summaries.pop("predictive"),
            **summaries,
            "temperature_note": note,
            "classes": per_class_metrics(evaluator.dataset, protocol, answers["predictive"]),
        }
        return Evaluation(summary, figures)

    @torch.no_grad()
    def _temperatures(self, protocol: Protocol) -> tuple[dict[str, float], str]:
        """A temperature for each way of predicting, from validation tasks of the same shape, or why there is none."""
        if protocol.split == "val":
            return (
                {},
                "none: temperatures are fitted on the validation classes, and these are evaluated",
            )
        processes = 1 if self.fabric is None else self.fabric.world_size  # each needs some
        wanted = min(max(TEMPERATURE_TASKS, TASKS_AT_ONCE * processes), protocol.episodes)
        tasks = replace(protocol, split="val", episodes=wanted, outside=0)
        try:
            self.check(tasks)
        except DataError as error:
            return {}, f"none: {error}"
        evaluator = self.tasks(tasks)
        collected, labels = dict[str, list[torch.Tensor]](), []
        for some in evaluator.infer_tasks(tasks):
            for name, prediction in both_predictors(
                evaluator.predict_sampled(some, tasks), evaluator.predict_at_mean(some)
            ).items():
                collected.setdefault(name, []).append(log_probabilities(prediction))
            labels.append(some.labels)
        truth = evaluator.processes.gathered(torch.cat(labels), tasks.episodes).flatten()
        answers = {
            name: evaluator.processes.gathered(torch.cat(each), tasks.episodes)
            for name, each in collected.items()
        }
        fitted = {
            name: fit_temperature(each.flatten(0, 1), truth) for name, each in answers.items()
        }
        return fitted, f"fitted on {tasks.episodes} tasks of {evaluator.dataset.description}"


def _summary(answers: Outcomes, figures: TaskMetrics, seed: int) -> dict[str, Any]:
    means = {
        name: mean_with_interval(getattr(figures, name)) for name in ("accuracy", "nll", "brier")
    }
    return means | {
        "ece": calibration(figures, seed),
        "reliability": reliability(figures),
        "uncertainty": uncertainties(answers),
        "risk_coverage": risk_coverage(answers.inside),
    }


def evaluate(
    saved: SavedModel,
    protocol: Protocol,
    dataset: Dataset | None = None,
    device: torch.device | str = "cpu",
    *,
    temperature: bool = True,
    progress: Progress = silent,
) -> Evaluation:
    """Evaluate a model on tasks of a data set (by default the one it was trained on).

    Accuracy, NLL and Brier score have 95 % intervals over tasks, the calibration error one by bootstrap over tasks.
    `temperature` adds the figures after a temperature that is fitted on validation tasks.
    """
    dataset = dataset or training_dataset(saved, protocol.split)
    return Evaluator(saved, dataset, device).evaluate(
        protocol, temperature=temperature, progress=progress
    )


def training_dataset(saved: SavedModel, split: str, progress: Progress = silent) -> Dataset:
    """The data that a model was trained on, another part of it; it is prepared now if it is not there."""
    if "settings" not in saved.training:
        raise DataError(
            "This model does not say what it was trained on; name the data to evaluate on."
        )
    data = saved.training["settings"]["data"]
    store = ready(data["name"], progress)
    own = store.facts.get("source_name") in ("folder", "features")
    if own and saved.training.get("data_identity", store.identity) != store.identity:
        raise DataError(
            f"{store.name} has been prepared anew since this model was trained, from other data or with another split: "
            "what is for testing now may have been for training then. Prepare it as it was, or name the data to use."
        )
    return Dataset(store, split, scheme=data["scheme"], rotations=data["rotations"])
