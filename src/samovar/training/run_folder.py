"""A run is a folder: config.json, metrics.jsonl, checkpoints/, model/ (the best): to be copied, compared, resumed."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from samovar.core.files import output_folder, write_whole
from samovar.errors import OutputError, RunError
from samovar.settings.stored import differences, from_dict
from samovar.settings.training import TrainSettings

FORMAT = 1


class RunFolder:
    """The folder of one run, held by one process at a time by a lock that dies with the process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config, self.metrics = path / "config.json", path / "metrics.jsonl"
        self.checkpoints, self.model = path / "checkpoints", path / "model"
        self.finish = path / "finished.json"
        self._lock = FileLock(path / ".lock")

    def take(self, settings: TrainSettings) -> None:
        """Make the folder or go on with it; refused if another process has it or its settings differ.

        A run that failed before its first checkpoint has nothing to go on from, so it binds nobody to its settings. A
        folder that holds other things is nobody's run.
        """
        if self.path.is_dir() and not self.config.exists() and (strangers := self._strangers()):
            raise RunError(f"{self.path} is no run, it holds {strangers[0]}. Choose another --out.")
        output_folder(self.checkpoints)
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise RunError(
                f"Another process is training in {self.path}. Wait for it, or choose another --out."
            ) from error
        if (
            self.config.exists()
            and not self.model.exists()
            and not any(self.checkpoints.glob("*.json"))
        ):
            self.config.unlink()
            self.metrics.unlink(missing_ok=True)
        if self.config.exists():
            changed = [str(difference) for difference in differences(self.settings(), settings)]
            self._refuse(changed, "settings")

    def _strangers(self) -> list[str]:
        own = {
            each.name
            for each in (self.config, self.metrics, self.checkpoints, self.model, self.finish)
        } | {"tensorboard"}
        return sorted(
            each.name
            for each in self.path.iterdir()
            if each.name not in own and each.name[0] != "."
        )

    def begin(self, preset: str, settings: TrainSettings, origin: dict[str, str | None]) -> None:
        """Write down what is trained, and from what (data and first weights), or compare that with what was written.

        Only after everything has been checked, so that a failed start binds nobody to its settings.
        """
        if self.config.exists():
            begun = self._facts().get("origin", {})
            self._refuse(
                [name for name, value in origin.items() if begun.get(name, value) != value],
                "origins",
            )
            return
        facts = {
            "format": FORMAT,
            "preset": preset,
            "settings": dataclasses.asdict(settings),
            "origin": origin,
        }
        write_whole(self.config, json.dumps(facts, indent=1).encode())

    def _refuse(self, changed: list[str], what: str) -> None:
        if changed:
            raise RunError(
                f"{self.path} was begun with other {what} ({'; '.join(changed)}). "
                "Use the same, or choose another --out."
            )

    def release(self) -> None:
        """Let others have it."""
        self._lock.release()

    def settings(self) -> TrainSettings:
        """The settings that it was begun with."""
        try:
            return from_dict(TrainSettings, self._facts()["settings"])
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(
                f"{self.config} cannot be read ({error}). Choose another --out."
            ) from error

    def _facts(self) -> dict[str, Any]:
        try:
            facts = json.loads(self.config.read_bytes())
            if facts["format"] != FORMAT:
                raise RunError(
                    f"{self.config} has format {facts['format']}, this version reads {FORMAT}."
                )
            return facts
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise RunError(
                f"{self.config} cannot be read ({error}). Choose another --out."
            ) from error

    def record_finish(self, accuracy: float, ci95: float) -> None:
        """Record that the run was trained to its end and tested, with the accuracy of its final test."""
        facts = {"format": FORMAT, "test_accuracy": accuracy, "ci95": ci95}
        write_whole(self.finish, json.dumps(facts).encode())

    @property
    def is_finished(self) -> bool:
        """Whether the run was trained to its end and tested."""
        config = self.model / "config.json"
        if not config.exists():
            return False
        if self.finish.exists():
            return True
        # Runs of version 0.1 say it only in the table of the model card.
        return any(
            name.startswith("test accuracy")
            for name in json.loads(config.read_bytes())["training"]["figures"]
        )

    def cut_metrics(self, update: int) -> None:
        """Forget what was logged after an update, and any half line."""
        kept = [line for line in read_metrics(self.metrics) if line["update"] <= update]
        write_whole(self.metrics, "".join(json.dumps(line) + "\n" for line in kept).encode())

    def log(self, line: dict[str, Any]) -> None:
        """Add a line to metrics.jsonl."""
        try:
            with self.metrics.open("a") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise OutputError(
                f"Cannot write {self.metrics}: {error.strerror}. The last checkpoint is intact; make room, then go on."
            ) from error


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a metrics.jsonl, up to half a line of a process that was killed, or anything else."""
    lines: list[dict[str, Any]] = []
    for text in path.read_text().splitlines() if path.exists() else []:
        try:
            line = json.loads(text)
        except ValueError:
            return lines
        if not isinstance(line, dict) or not isinstance(line.get("update"), int):
            return lines
        lines.append(line)
    return lines
