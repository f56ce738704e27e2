"""What a model remembers of the run that made it.

config.json stores it under "training": which data, by which settings, and what was measured, twice:
"figures" are sentences for the model card, "results" the same numbers for programs. Models of
earlier versions have the sentences only, and models made by hand may have nothing at all.
"""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from samovar.data.store import Store
from samovar.settings.checked import checked
from samovar.settings.stored import from_dict, to_dict
from samovar.settings.training import TrainSettings


@dataclass(frozen=True)
class ValidationResult:
    """The best validation accuracy, as a fraction, and the update at which it was reached."""

    accuracy: float
    update: int


@dataclass(frozen=True)
class TestResult:
    """The accuracy on the test tasks and the half-width of its 95 % interval, as fractions.

    A single task has no interval.
    """

    __test__ = False  # its name looks like a test class to pytest

    accuracy: float
    ci95: float | None


@dataclass(frozen=True)
class TrainingResults:
    """What a run has measured so far."""

    validation: ValidationResult | None = None
    test: TestResult | None = None
    finished: bool = False
    """Whether the run has done all its updates and tested its best model."""


@dataclass(frozen=True)
class TrainingRecord:
    """The run that made a model; every field may be missing."""

    data: str | None = None
    """The name of the data set."""
    data_identity: str | None = None
    """The hash of its images, classes and splits."""
    licence: str | None = None
    """The licence of the data."""
    figures: dict[str, Any] = field(default_factory=dict)
    """What was measured, in words: the table of the model card."""
    results: TrainingResults | None = None
    """What was measured, in numbers."""
    settings: dict[str, Any] | None = None
    """The training settings as JSON, perhaps only a part of them."""

    @classmethod
    def start(cls, store: Store, settings: TrainSettings) -> "TrainingRecord":
        """Return the record of a run that has measured nothing yet."""
        return cls(
            data=store.name,
            data_identity=store.identity,
            licence=store.facts.get("licence", ""),
            results=TrainingResults(),
            settings=to_dict(settings),
        )

    def with_validation(self, accuracy: float, update: int) -> "TrainingRecord":
        """Return the record with a new best validation accuracy."""
        figures = {"validation accuracy": f"{100 * accuracy:.2f} %", "update": update}
        results = TrainingResults(ValidationResult(accuracy, update))
        return replace(self, figures=figures, results=results)

    def with_test(
        self, validation: ValidationResult, test: TestResult, protocol: str
    ) -> "TrainingRecord":
        """Return the record of a finished run; `protocol` says how the test was measured."""
        best = f"{100 * validation.accuracy:.2f} % (update {validation.update})"
        tested = f"{100 * test.accuracy:.2f} %"
        if test.ci95 is not None:
            tested = f"{100 * test.accuracy:.2f} ± {100 * test.ci95:.2f} %"
        figures = {"validation accuracy": best, f"test accuracy, {protocol}": tested}
        results = TrainingResults(validation, test, finished=True)
        return replace(self, figures=figures, results=results)

    @property
    def finished(self) -> bool:
        """Whether the run was trained to the end and tested."""
        if self.results is not None:
            return self.results.finished
        # Earlier versions stored sentences only; the one about the test was written last.
        return any("test accuracy" in name for name in self.figures)

    def to_json(self) -> dict[str, Any]:
        """Return what config.json stores; what is unknown is left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "TrainingRecord":
        """Read what config.json stores; other keys are ignored.

        >>> TrainingRecord.from_json({"data": "glyphs"}).finished
        False
        """
        record = checked(cls, stored)
        if record.results is not None:
            from_dict(TrainingResults, stored["results"])  # refuses unknown names, too
        return record
