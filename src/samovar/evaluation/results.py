"""The results of an evaluation as typed values, and how evaluation.json stores them."""

from dataclasses import asdict, dataclass
from typing import Any

from samovar.evaluation.differences import PairedDifferences
from samovar.evaluation.metrics import (
    CalibrationError,
    Estimate,
    ReliabilityBin,
    TaskMetrics,
    calibration_errors,
    reliability,
)
from samovar.evaluation.outcomes import Outcomes
from samovar.evaluation.per_class import ClassRanking
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.uncertainty import (
    RiskCoverage,
    Uncertainty,
    risk_coverage,
    uncertainties,
)
from samovar.settings.model import ModelSettings
from samovar.settings.stored import to_dict
from samovar.settings.tasks import Protocol

FORMAT = 2
"""The version of evaluation.json."""


@dataclass(frozen=True)
class RegressionFacts:
    """What an evaluation says of a regression on an encoder's vectors."""

    encoder: str
    power: float
    spread: float
    kind: str = "closed_form"


EvaluatedModel = ModelSettings | RegressionFacts
"""The settings of a network, or what stands for them."""


@dataclass(frozen=True)
class Metrics:
    """All metrics of one predictor over the tasks of an evaluation."""

    accuracy: Estimate
    nll: Estimate
    brier: Estimate
    ece: CalibrationError
    """Of all queries at once: pooled."""
    gap: Estimate
    """The mean top probability minus the accuracy: above zero the answers are too sure."""
    ece_per_task: Estimate
    """The mean of the calibration errors of single tasks, which is biased upward."""
    reliability: list[ReliabilityBin]
    uncertainty: Uncertainty
    risk_coverage: RiskCoverage
    temperature: float | None = None
    """The fitted temperature of a tempered predictor."""

    @classmethod
    def of(
        cls, outcomes: Outcomes, tasks: TaskMetrics, seed: int, temperature: float | None = None
    ) -> "Metrics":
        """Summarise the outcomes and the metrics of each task; `seed` is that of the bootstrap."""
        return cls(
            accuracy=Estimate.of(tasks.accuracy),
            nll=Estimate.of(tasks.nll),
            brier=Estimate.of(tasks.brier),
            ece=CalibrationError.of(tasks, seed),
            gap=Estimate.of(tasks.gap),
            ece_per_task=Estimate.of(calibration_errors(tasks.bins)),
            reliability=reliability(tasks),
            uncertainty=uncertainties(outcomes),
            risk_coverage=risk_coverage(outcomes.inside),
            temperature=temperature,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the form that evaluation.json stores; `temperature` only if there is one."""
        stored = asdict(self)
        # Files list it first, and only for predictors that have one.
        temperature = stored.pop("temperature")
        if temperature is None:
            return stored
        return {"temperature": temperature} | stored


@dataclass(frozen=True)
class RivalResults:
    """The rivals of a model on the same tasks and features.

    metrics: by rival; differences: the predictive minus the rival, task by task; note: what the
    rivals' temperatures were fitted on, or why there are none.
    """

    metrics: dict[Predictor, Metrics]
    differences: dict[Predictor, PairedDifferences]
    note: str

    def to_json(self) -> dict[str, Any]:
        """Return the form that evaluation.json stores under "rivals"."""
        stored = {}
        for rival, metrics in self.metrics.items():
            difference = asdict(self.differences[rival])
            stored[rival.value] = metrics.to_json() | {"model_minus_this": difference}
        return stored


@dataclass(frozen=True)
class EvaluationResults:
    """The results of a model under a protocol.

    norm: the batch norm that was used, which the protocol may leave to the model; data: the
    evaluated data in words; metrics: by predictor, the predictive first; temperature_note: what the
    temperatures were fitted on, or why there are none; classes: the hardest and easiest classes of
    the predictive.
    """

    protocol: Protocol
    norm: str
    model: EvaluatedModel
    model_identity: str
    data: str
    data_checksum: str
    data_identity: str
    metrics: dict[Predictor, Metrics]
    temperature_note: str
    classes: ClassRanking
    rivals: RivalResults | None = None
    """Only where they were asked for."""

    @property
    def predictive(self) -> Metrics:
        """The metrics of the sampled predictive, which every evaluation has."""
        return self.metrics[Predictor.PREDICTIVE]

    @property
    def protocol_text(self) -> str:
        """The protocol in words, as it is printed with every result."""
        return f"{self.protocol}, {self.norm} norm"

    @property
    def model_text(self) -> str:
        """The model in words."""
        model = self.model
        if isinstance(model, RegressionFacts):
            return f"closed form on the vectors of {model.encoder}"
        return f"{model.method} with {model.backbone}, {model.classifier} classifier"

    @property
    def distance_text(self) -> str:
        """What the measure called distance is."""
        if isinstance(self.model, RegressionFacts):
            return "log variance - 2 x the largest score of the regression"
        return "one minus the cosine to the nearest class mean"

    def to_json(self) -> dict[str, Any]:
        """Return the content of evaluation.json.

        The metrics of the predictive are at the top level, those of every other predictor under its
        name.
        """
        stored: dict[str, Any] = {
            "format": FORMAT,
            "protocol": asdict(self.protocol) | {"norm": self.norm, "text": self.protocol_text},
            "model": to_dict(self.model),
            "model_identity": self.model_identity,
            "data": self.data,
            "data_checksum": self.data_checksum,
            "data_identity": self.data_identity,
            "episodes": self.protocol.episodes,
        }
        # Every evaluation has the predictive; readers of the file find it without knowing its name.
        stored |= self.predictive.to_json()
        for predictor, metrics in self.metrics.items():
            if predictor != Predictor.PREDICTIVE:
                stored[predictor.value] = metrics.to_json()
        stored["temperature_note"] = self.temperature_note
        stored["classes"] = asdict(self.classes)
        if self.rivals is not None:
            stored["rivals"] = self.rivals.to_json()
            stored["rivals_note"] = self.rivals.note
        return stored
