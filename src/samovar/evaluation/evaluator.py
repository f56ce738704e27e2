"""Evaluates a model of either kind: a network, or a regression on an encoder's vectors.

`evaluate` is the public function for one protocol. `Evaluator` serves several protocols and embeds
the images of each split only once. `Evaluation` is what both return: the results, and the metrics
of each task.
"""

import copy

import torch
from lightning_fabric import Fabric

from samovar.artifacts.saved_model import SavedModel
from samovar.artifacts.saved_regression import SavedRegression
from samovar.core.devices import device_named
from samovar.core.progress import Progress, silent
from samovar.data.dataset import Dataset
from samovar.data.preparation import ready
from samovar.errors import DataError
from samovar.evaluation.regression_evaluator import RegressionEvaluator, check_encoder
from samovar.evaluation.task_evaluator import Evaluation, TaskEvaluator
from samovar.evaluation.task_runner import TaskRunner, check_input
from samovar.models.backbones.layers import norm_modes, set_norm
from samovar.models.few_shot_model import channels_last
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import Protocol


class Evaluator(TaskEvaluator):
    """Evaluates a network under several protocols, and embeds each split of the data once."""

    def __init__(
        self,
        saved: SavedModel,
        dataset: Dataset,
        device: torch.device | str = "cpu",
        fabric: Fabric | None = None,
    ) -> None:
        check_input(saved.model.settings, dataset)
        check_encoder(saved.encoder, dataset)
        super().__init__(dataset, fabric)
        self.saved = saved
        self.device = device_named(str(device))
        self._runners: dict[tuple[str, str], TaskRunner] = {}

    @property
    def model(self) -> ModelSettings:
        """The settings of the network."""
        return self.saved.model.settings

    @property
    def identity(self) -> str:
        """The hash of the model."""
        return self.saved.identity

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
            runner = TaskRunner(model, dataset, self.saved.normalisation, self.device, self.fabric)
            runner.calibration = self.saved.calibration
            self._runners[key] = runner
        return self._runners[key]

    def norms(self, protocol: Protocol) -> set[str]:
        """Return the modes of batch norm that a protocol asks for."""
        if protocol.norm == "as trained":
            return norm_modes(self.saved.model)
        return {str(protocol.norm)}


def evaluator_for(
    saved: SavedModel | SavedRegression,
    dataset: Dataset,
    device: torch.device | str = "cpu",
    fabric: Fabric | None = None,
) -> Evaluator | RegressionEvaluator:
    """Return the evaluator for a model of either kind."""
    if isinstance(saved, SavedRegression):
        return RegressionEvaluator(saved, dataset, device, fabric)
    return Evaluator(saved, dataset, device, fabric)


def evaluate(  # noqa: PLR0913 (each is a choice of its own, and all but two have defaults)
    saved: SavedModel | SavedRegression,
    protocol: Protocol,
    dataset: Dataset | None = None,
    device: torch.device | str = "cpu",
    *,
    temperature: bool = True,
    rivals: bool = False,
    progress: Progress = silent,
) -> Evaluation:
    """Evaluate a model on tasks of a data set, by default the one that it was trained on.

    Accuracy, NLL and Brier score have 95 % intervals over tasks, the calibration error has one from
    a bootstrap over tasks. `temperature` adds the predictors with a temperature that is fitted on
    validation tasks. `rivals` adds simple classifiers on the same tasks and features.

    `evaluate(model, Protocol(shot=5)).summary["accuracy"]["mean"]` is the accuracy over 5000 tasks.
    """
    dataset = dataset or training_dataset(saved, protocol.split)
    evaluator = evaluator_for(saved, dataset, device)
    return evaluator.evaluate(protocol, temperature=temperature, rivals=rivals, progress=progress)


def training_dataset(
    saved: SavedModel | SavedRegression, split: str, progress: Progress = silent
) -> Dataset:
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
