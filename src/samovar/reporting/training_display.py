"""Training as people see it: a live line in a terminal, plain lines in a log, TensorBoard if wanted."""

import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from samovar.errors import SettingsError
from samovar.settings.training import TrainSettings


class TrainingDisplay:
    """Called with every line of metrics."""

    def __init__(self, settings: TrainSettings, out: Path, *, tensorboard: bool) -> None:
        self.settings, self.latest = settings, dict[str, Any]()
        self.console = Console(stderr=True)
        self.progress: Progress | None = None
        self.writer = _tensorboard(out) if tensorboard else None

    def __enter__(self) -> "TrainingDisplay":
        if self.console.is_terminal:
            columns = (
                BarColumn(20),
                TaskProgressColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.description}"),
            )
            self.progress = Progress(*columns, console=self.console)
            self.task = self.progress.add_task("starting", total=self.settings.updates)
            self.progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.progress is not None:
            self.progress.stop()
        if self.writer is not None:
            self.writer.close()

    def __call__(self, line: dict[str, Any]) -> None:
        """A line of metrics, or an event."""
        if "event" in line:
            (self.progress.console.print if self.progress else self._print)(
                str(line["event"]), **_plain(self.progress)
            )
            return
        self.latest |= line
        text = describe(self.latest)
        if self.progress is not None:
            self.progress.update(self.task, completed=line["update"], description=text)
        else:
            self._print(f"update {line['update']}/{self.settings.updates}  {text}")
        if self.writer is not None:
            for name, value in line.items():
                if name != "update":
                    self.writer.add_scalar(name, value, line["update"])

    def _print(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def _plain(progress: Progress | None) -> dict[str, Any]:
    return {"markup": False, "highlight": False} if progress else {}


def describe(line: dict[str, Any]) -> str:
    """The figures of an update in one line."""
    parts = []
    for name, label, form in (
        ("loss", "loss", ".3f"),
        ("nll", "NLL", ".3f"),
        ("kl", "KL", ".1f"),
        ("validation_accuracy", "validation", ".2%"),
        ("largest_weight_variance", "largest variance", ".2g"),
        ("images_per_second", "images/s", ".0f"),
        ("seconds_left", "s left", ".0f"),
    ):
        if name in line:
            value = format(line[name], form)
            parts.append(
                f"{value} {label}" if label in ("images/s", "s left") else f"{label} {value}"
            )
    return "  ".join(parts)


def _tensorboard(out: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise SettingsError(
            "--tensorboard needs the package tensorboard: pip install tensorboard."
        ) from error
    return SummaryWriter(str(out / "tensorboard"))
