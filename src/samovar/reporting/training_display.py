"""Training as people see it: a live line in a terminal, plain lines in a log, and TensorBoard."""

import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from samovar.core.text import printable
from samovar.errors import SettingsError
from samovar.settings.presets import Preset
from samovar.settings.stored import differences
from samovar.settings.training import TrainSettings

COLUMNS = {
    "validation_accuracy": "validation {:.1%} right",
    "seconds_left": "{}",
    "images_per_second": "{:.0f} images/s",
    "loss": "loss {:.3f}",
    "nll": "NLL {:.3f}",
    "kl": "KL {:.1f}",
    "largest_weight_variance": "largest variance {:.2g}",
}
"""The metrics that are shown, and how: first what everybody wants to know."""


def changed_settings(preset: Preset, settings: TrainSettings, out: Path) -> list[str]:
    """Return a few lines that open a log: the preset, what differs from it, and where all is.

    >>> from samovar.settings.presets import PRESETS
    >>> glyphs = PRESETS["glyphs"]
    >>> changed_settings(glyphs, glyphs.settings, Path("runs/glyphs"))
    ['training the preset glyphs as it is; all settings: runs/glyphs/config.json']
    """
    place = f"all settings: {out / 'config.json'}"
    changes = differences(preset.settings, settings)
    if not changes:
        return [f"training the preset {preset.name} as it is; {place}"]
    lines = [f"training the preset {preset.name} with other settings ({place}):"]
    for change in changes:
        name = ".".join(change.path)
        lines.append(f"  {name} = {_shown(change.new)} (preset: {_shown(change.old)})")
    return lines


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    return str(value)


def time_left(seconds: float) -> str:
    """Return a number of seconds in words.

    >>> time_left(40), time_left(600), time_left(7200)
    ('40 s left', '10 min left', '2.0 h left')
    """
    if seconds < 100:
        return f"{seconds:.0f} s left"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min left"
    return f"{seconds / 3600:.1f} h left"


class TrainingDisplay:
    """Shows every line of metrics and every event that it is called with."""

    def __init__(self, settings: TrainSettings, out: Path, *, tensorboard: bool) -> None:
        self.updates = settings.updates
        self.latest: dict[str, Any] = {}
        self.console = Console(stderr=True)
        self.progress: Progress | None = None
        self.writer: Any = None
        if tensorboard:
            self.writer = _tensorboard(out)

    def __enter__(self) -> "TrainingDisplay":
        if self.console.is_terminal:
            self.progress = Progress(
                BarColumn(20),
                TaskProgressColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.description}", markup=False),
                console=self.console,
            )
            self.task = self.progress.add_task("starting", total=self.updates)
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
        """Show a line of metrics or an event."""
        if "event" in line:
            self._show_event(line["event"])
            return
        # Training metrics and validations come on separate lines; the latest of both are shown.
        self.latest |= line
        self._show_metrics(line["update"], describe(self.latest))
        if self.writer is not None:
            self._write(line)

    def _show_event(self, text: str) -> None:
        text = printable(text)
        if self.progress is None:
            _print(text)
        else:
            # Names of files may look like rich's markup, so it is turned off.
            self.progress.console.print(text, markup=False, highlight=False)

    def _show_metrics(self, update: int, text: str) -> None:
        if self.progress is None:
            _print(f"update {update}/{self.updates}  {text}")
        else:
            self.progress.update(self.task, completed=update, description=text)

    def _write(self, line: dict[str, Any]) -> None:
        for name, value in line.items():
            if name != "update":
                self.writer.add_scalar(name, value, line["update"])


def describe(line: dict[str, Any]) -> str:
    """Return the metrics of an update in one line.

    >>> describe({"update": 25, "loss": 1.23456, "seconds_left": 7})
    '7 s left  loss 1.235'
    """
    shown = []
    for name, text in COLUMNS.items():
        if name == "seconds_left" and name in line:
            shown.append(time_left(line[name]))
        elif name in line:
            shown.append(text.format(line[name]))
    return "  ".join(shown)


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _tensorboard(out: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise SettingsError(
            "--tensorboard needs the package tensorboard: pip install tensorboard."
        ) from error
    return SummaryWriter(str(out / "tensorboard"))
