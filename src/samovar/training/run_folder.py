"""A run is a folder that can be copied, compared and resumed.

It has config.json (settings and origin), metrics.jsonl, checkpoints/ and model/ (the best model so
far). One process at a time may train in it, which a lock ensures that dies with its process.
A folder keeps its settings: a run that goes on with others would be neither the old nor the new.
"""

import json
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from samovar.artifacts.training_record import TrainingRecord
from samovar.core.files import output_folder, write_whole
from samovar.errors import OutputError, RunError
from samovar.settings.stored import differences, from_dict, to_dict
from samovar.settings.training import TrainSettings

FORMAT = 1


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.json"
        self.metrics = path / "metrics.jsonl"
        self.checkpoints = path / "checkpoints"
        self.model = path / "model"
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
        expected = {"config.json", "metrics.jsonl", "checkpoints", "model", "tensorboard"}
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
            stored = self._facts().get("origin", {})
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
            return from_dict(TrainSettings, self._facts()["settings"])
        except (KeyError, TypeError, ValueError) as error:
            raise self._unreadable(error) from error

    def _facts(self) -> dict[str, Any]:
        try:
            facts = json.loads(self.config.read_bytes())
            stored_format = facts["format"]
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise self._unreadable(error) from error
        if stored_format != FORMAT:
            raise RunError(
                f"{self.config} has format {stored_format}, but this version reads {FORMAT}."
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
            return TrainingRecord.from_json(json.loads(config.read_bytes())["training"]).finished
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise RunError(f"{config} cannot be read ({error}).") from error

    def cut_metrics(self, update: int) -> None:
        """Delete what was logged after an update, and any incomplete line."""
        kept = [line for line in read_metrics(self.metrics) if line["update"] <= update]
        text = "".join(json.dumps(line) + "\n" for line in kept)
        write_whole(self.metrics, text.encode())

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


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a metrics.jsonl up to the first that is incomplete or not understood.

    A process that was killed while writing leaves half a line.
    """
    lines: list[dict[str, Any]] = []
    if not path.exists():
        return lines
    for text in path.read_text().splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            return lines
        if not isinstance(line, dict) or not isinstance(line.get("update"), int):
            return lines
        lines.append(line)
    return lines
