"""What a user chooses for `samovar fit`, checked before anything heavy is loaded."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from samovar.errors import OutputError, SettingsError

MODEL = "photos"
REJECT = "auto"
SAMPLES = 128
SEED = 0


@dataclass(frozen=True)
class Choices:
    """The flags that say how a task is made; None where the user has not said anything."""

    model: str | None
    encoder: str | None
    preprocessing: str | None
    reject: str | None
    samples: int | None
    seed: int | None

    def rate(self) -> float | Literal["auto", "never"]:
        """Return the rate of rejection that is asked for, as a number or a word."""
        text = (self.reject or REJECT).strip().lower()
        if text == "auto":
            return "auto"
        if text == "never":
            return "never"
        try:
            return float(text)
        except ValueError:
            raise SettingsError(_bad_rate(text)) from None

    def check_addition(self, *, overwrite: bool) -> None:
        """Refuse flags that cannot be changed when images are added to a task."""
        if overwrite:
            raise SettingsError("Choose one of --add and --overwrite.")
        fixed = {
            "--model": self.model,
            "--reject": self.reject,
            "--samples": self.samples,
            "--seed": self.seed,
            "--preprocessing": self.preprocessing,
        }
        given = [flag for flag, value in fixed.items() if value is not None]
        if given:
            raise SettingsError(
                f"{' and '.join(given)} cannot be changed with --add: leave it out. The task keeps "
                "what it was made with; to change that, fit all images again with --overwrite."
            )


def _bad_rate(text: str) -> str:
    """Say what --reject takes, and how a percentage is written."""
    example = "0.05"
    try:
        share = float(text.removesuffix("%")) / 100
        if text.endswith("%"):
            example = f"{share:g}"
    except ValueError:
        pass
    return (
        f"--reject takes a share such as 0.05 (that is 5 %), auto or never, but {text!r} was "
        f"given. Write --reject {example}."
    )


def check_target(task: Path, *, add: bool, overwrite: bool) -> None:
    """Refuse to lose an existing task, and to add to one that does not exist."""
    if task.is_dir():
        raise OutputError(f"Cannot write {task}: there is a folder of that name.")
    if add and not task.exists():
        raise SettingsError(
            f"There is no task file {task} to add to. Leave out --add to make a new task."
        )
    if task.exists() and not add and not overwrite:
        raise SettingsError(
            f"{task} exists already. Use --add to add these images to it, --overwrite to replace "
            "it, or another name."
        )
