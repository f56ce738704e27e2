"""A run is a folder that can be copied, compared and resumed.

It has config.json (settings and origin), metrics.jsonl, checkpoints/ and model/ (the best model so
far), and diverged.json if its loss stopped being finite. One process at a time may train in it,
which a lock ensures that dies with its process. A folder keeps its settings: a run that goes on
with others would be neither the old nor the new.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from samovar.artifacts.training_record import TrainingRecord
from samovar.core.files import output_folder, remove_leftovers, write_whole
from samovar.core.stored_json import read_json
from samovar.errors import OutputError, RunError, SettingsError, UnreadableError
from samovar.settings.stored import differences, from_dict, to_dict
from samovar.settings.training import TrainSettings
from samovar.training.stored_metrics import StoredMetrics

FORMAT = 1


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.json"
        self.metrics = path / "metrics.jsonl"
        self.checkpoints = path / "checkpoints"
        self.model = path / "model"
        self.divergence = path / "diverged.json"
        self._lock = FileLock(path / ".lock")

    def take(self, settings: TrainSettings) -> None:
        """Make the folder, or take it over to go on with its run, and lock it.

        It is refused if another process has it, if its run has other settings, or if it contains
        anything but a run. A run that failed before its first checkpoint is started anew.
        """
        self._check_content()
        output_folder(self.checkpoints)
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise RunError(
                f"Another process is training in {self.path}. Wait for it, or choose another --out."
            ) from error
        # Nobody else is writing here now: what is hidden was left by processes that were killed.
        for folder in (self.path, self.checkpoints, self.model):
            remove_leftovers(folder)
        # On the same machine it would diverge again, which will then be noted again.
        self.divergence.unlink(missing_ok=True)
        # Without a checkpoint or a model there is nothing to go on from.
        if not self.model.exists() and not any(self.checkpoints.glob("*.json")):
            self.config.unlink(missing_ok=True)
            self.metrics.unlink(missing_ok=True)
        if self.config.exists():
            changed = [str(difference) for difference in differences(self.settings(), settings)]
            self._refuse(changed, "different settings")

    def _check_content(self) -> None:
        """Refuse a folder that contains other things and no run, so that none are mixed with it."""
        if self.config.exists() or not self.path.is_dir():
            return
        # A run that was stopped very early has some of these, but no config.json yet.
        ours = (self.config, self.metrics, self.checkpoints, self.model, self.divergence)
        expected = {"tensorboard", *(path.name for path in ours)}
        for path in sorted(self.path.iterdir()):
            if path.name not in expected and not path.name.startswith("."):
                raise RunError(
                    f"{self.path} is not a run folder: it contains {path.name}. "
                    "Choose another --out."
                )

    def begin(self, preset: str, settings: TrainSettings, origin: dict[str, str | None]) -> None:
        """Store what is trained and what it starts from, or compare that with what is stored.

        This comes after all other checks, so that a start that fails leaves the folder free.
        """
        if self.config.exists():
            stored = self._facts().origin
            changed = []
            for name, value in origin.items():
                # Runs of earlier versions did not store all of these.
                if stored.get(name, value) != value:
                    changed.append(name)
            self._refuse(changed, "a different origin")
            return
        facts = {
            "format": FORMAT,
            "preset": preset,
            "settings": to_dict(settings),
            "origin": origin,
        }
        write_whole(self.config, json.dumps(facts, indent=1).encode())

    def _refuse(self, changed: list[str], what: str) -> None:
        if changed:
            raise RunError(
                f"{self.path} was started with {what} ({'; '.join(changed)}). "
                "Use the same, or choose another --out."
            )

    def release(self) -> None:
        """Unlock the folder."""
        self._lock.release()

    def settings(self) -> TrainSettings:
        """Return the settings that the run was started with."""
        try:
            return from_dict(TrainSettings, self._facts().settings)
        except SettingsError as error:
            raise self._unreadable(error) from error

    def _facts(self) -> "_RunFacts":
        try:
            facts = read_json(self.config, _RunFacts)
        except (OSError, UnreadableError) as error:
            raise self._unreadable(error) from error
        if facts.format != FORMAT:
            raise RunError(
                f"{self.config} has format {facts.format}, but this version reads {FORMAT}."
            )
        return facts

    def _unreadable(self, error: Exception) -> RunError:
        return RunError(f"{self.config} cannot be read ({error}). Choose another --out.")

    @property
    def is_finished(self) -> bool:
        """Whether the run was trained to its end and tested, as its model records."""
        config = self.model / "config.json"
        if not config.exists():
            return False
        try:
            return read_json(config, _ModelFacts).training.finished
        except (OSError, UnreadableError) as error:
            raise RunError(f"{config} cannot be read ({error}).") from error

    def note_divergence(self, update: int) -> None:
        """Remember that the loss was not finite at this update."""
        write_whole(self.divergence, json.dumps({"update": update}).encode())

    @property
    def diverged_at(self) -> int | None:
        """The update at which the loss was not finite when the run was last trained, if any."""
        if not self.divergence.exists():
            return None
        try:
            return read_json(self.divergence, _Divergence).update
        except (OSError, UnreadableError) as error:
            raise RunError(f"{self.divergence} cannot be read ({error}).") from error

    def cut_metrics(self, update: int) -> list[str]:
        """Delete what was logged after an update, and lines that are damaged.

        Returns a message if there were damaged ones.
        """
        stored = StoredMetrics.read(self.metrics)
        write_whole(self.metrics, stored.until(update))
        return stored.complaints

    def log(self, line: dict[str, Any]) -> None:
        """Append a line to metrics.jsonl."""
        try:
            with self.metrics.open("a") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise OutputError(
                f"Cannot write {self.metrics}: {error.strerror}. The last checkpoint is intact: "
                "free some disk space and run the same command again."
            ) from error


@dataclass(frozen=True)
class _RunFacts:
    """The content of a run's config.json."""

    format: int
    settings: dict[str, Any]
    preset: str = "own"
    origin: dict[str, str | None] = field(default_factory=dict)
    """What the run started from; runs of earlier versions did not store it."""


@dataclass(frozen=True)
class _Divergence:
    """The content of diverged.json."""

    update: int


@dataclass(frozen=True)
class _ModelFacts:
    """What a run needs to know of its model's config.json."""

    training: TrainingRecord
