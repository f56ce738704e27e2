"""Evaluates a regression on the vectors of its encoder, as `Evaluator` does a network."""

import torch
from lightning_fabric import Fabric

from samovar.artifacts.saved_regression import SavedRegression
from samovar.core.devices import device_named
from samovar.data.dataset import Dataset
from samovar.encoders.encoder_facts import EncoderFacts, encoder_of
from samovar.errors import DataError
from samovar.evaluation.regression_runner import RegressionRunner
from samovar.evaluation.results import RegressionFacts
from samovar.evaluation.task_evaluator import TaskEvaluator
from samovar.settings.tasks import Protocol


class RegressionEvaluator(TaskEvaluator):
    """Evaluates a regression under several protocols."""

    def __init__(
        self,
        saved: SavedRegression,
        dataset: Dataset,
        device: torch.device | str = "cpu",
        fabric: Fabric | None = None,
    ) -> None:
        _check_vectors(saved.encoder, dataset)
        check_encoder(saved.encoder, dataset)
        super().__init__(dataset, fabric)
        self.saved = saved
        self.device = device_named(str(device))

    @property
    def model(self) -> RegressionFacts:
        """What the results say of the regression."""
        model = self.saved.model
        return RegressionFacts(self.saved.encoder.name, model.power, model.spread)

    @property
    def identity(self) -> str:
        """The hash of the model."""
        return self.saved.identity

    def runner(self, protocol: Protocol) -> RegressionRunner:
        """Return the runner for a protocol's split."""
        dataset = self.dataset.part(protocol.split)
        return RegressionRunner(self.saved.model, dataset, self.device, self.fabric)

    def norms(self, protocol: Protocol) -> set[str]:  # noqa: ARG002 (there are none to choose)
        """Return the modes of batch norm: a regression has none."""
        return set()


def _check_vectors(encoder: EncoderFacts, dataset: Dataset) -> None:
    """Refuse data that are not vectors of the right length."""
    shape = tuple(dataset.store.facts["shape"])
    name = dataset.store.name
    if len(shape) != 1:
        raise DataError(
            f"{name} holds images, but this model is measured on vectors of {encoder.name}. Make "
            "them with: samovar embed FOLDER --out FILE.npz, and use --data FILE.npz."
        )
    if shape != (encoder.length,):
        raise DataError(
            f"{name} has vectors of {shape[0]} numbers, but this model takes those of "
            f"{encoder.name}, which have {encoder.length}."
        )


def check_encoder(encoder: EncoderFacts | None, dataset: Dataset) -> None:
    """Refuse vectors of another encoder than the model's, as far as both are known."""
    made_by = encoder_of(dataset.store)
    if encoder is None or made_by is None or encoder.identity == made_by.identity:
        return
    raise DataError(
        f"The vectors of {dataset.store.name} were made by the encoder {made_by.name} (hash "
        f"{made_by.identity[:12]}), but this model takes those of {encoder.name} (hash "
        f"{encoder.identity[:12]}). Make them with: samovar embed FOLDER --encoder "
        f"{encoder.name} --out FILE.npz"
    )
