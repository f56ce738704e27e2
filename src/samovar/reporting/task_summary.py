"""What is inside a fitted task, as `samovar fit` and `samovar task` show it."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from samovar.classifier.fitted_task import FittedTask
from samovar.classifier.leave_one_out import LeaveOneOut
from samovar.classifier.regression_task import RegressionTask
from samovar.classifier.support_names import WrongImage
from samovar.encoders.encoder_facts import EncoderFacts
from samovar.reporting.terminal import printable, shortened

MOST_ROWS = 50
"""The number of classes that the table shows."""
NARROWEST = 64
"""Characters of the table; the lines below it are wrapped at its width."""
MOST_WRONG = 10
"""The number of wrong answers that are named."""
NAME_WIDTH = 30
LABEL_WIDTH = 16


def described_model(model: str, encoder: EncoderFacts | None) -> str:
    """Return what a summary calls a model, with the encoder that the user has named for it."""
    if encoder is None:
        return model
    return f"{model}, encoder {encoder.name}"


@dataclass(frozen=True)
class TaskSummary:
    """The classes of a task, what its file holds, and how well its support images are answered."""

    path: Path
    model: str
    classes: dict[str, int]
    """The number of images of each class."""
    leave_one_out: LeaveOneOut | None
    holds: str
    """What the file keeps of the images, in words."""
    wrong: tuple[WrongImage, ...] = ()
    """The images that leave-one-out has answered wrongly, where their names are known."""
    held_out: int = 0
    """The images that prediction sets were calibrated with."""

    @classmethod
    def of(
        cls,
        path: Path,
        model: str,
        task: FittedTask | RegressionTask,
        measured: LeaveOneOut | None,
        wrong: tuple[WrongImage, ...] = (),
    ) -> "TaskSummary":
        """Return the summary of a task that is kept in the file `path`."""
        names = [str(label) for label in task.classes]
        classes = dict(zip(names, task.counts.tolist(), strict=True))
        return cls(path, model, classes, measured, _kept(task), wrong)

    def print_to(self, console: Console) -> None:
        """Print the table, and the images that the others answer wrongly."""
        console.print(self.table())
        if not self.wrong:
            return
        console.print("Answered wrongly by the other images (is the label right?):")
        for image in self.wrong[:MOST_WRONG]:
            name = shortened(printable(str(image.image)), NAME_WIDTH)
            label = shortened(printable(str(image.label)), LABEL_WIDTH)
            answer = shortened(printable(str(image.answer)), LABEL_WIDTH)
            text = f"  {name}: {label}, answered {answer}"
            console.print(text, markup=False, highlight=False, no_wrap=True)
        if len(self.wrong) > MOST_WRONG:
            console.print(f"  ... and {len(self.wrong) - MOST_WRONG} more")

    def table(self) -> Table:
        """Return a table for the terminal."""
        path = escape(printable(str(self.path)))
        model = escape(printable(self.model))
        table = Table(title=f"{path} (model {model})", caption=self._caption(), min_width=NARROWEST)
        table.add_column("class")
        table.add_column("images", justify="right")
        for name, count in list(self.classes.items())[:MOST_ROWS]:
            table.add_row(escape(printable(name)), str(count))
        if len(self.classes) > MOST_ROWS:
            table.add_row(f"... and {len(self.classes) - MOST_ROWS} more", "")
        return table

    def _caption(self) -> str:
        text = f"{self._measured()}\nthe file holds {self.holds} and no images{self._size()}"
        if self.held_out:
            text += f"\nsets are calibrated with {self.held_out} held-out images"
        return text

    def _size(self) -> str:
        """Return the size of the file in brackets; nothing if there is no file yet."""
        if not self.path.is_file():
            return ""
        size = self.path.stat().st_size
        if size < 10**6:
            return f" ({max(1, round(size / 1e3))} kB)"
        return f" ({size / 1e6:.1f} MB)"

    def _measured(self) -> str:
        measured = self.leave_one_out
        if measured is None:
            return (
                "leave-one-out: not measured (at least one class must have two images, "
                "and images cannot have been added to the task later)"
            )
        results = []
        if len(self.classes) > 1:  # with one class every answer is right
            results.append(f"{measured.accuracy:.0%} right")
        if measured.rejected is not None:
            results.append(f"{measured.rejected:.0%} rejected")
        text = ", ".join(results) or "one class, and nothing is rejected"
        return f"leave-one-out on {measured.images} support images: {text}"


def _kept(task: FittedTask | RegressionTask) -> str:
    """Say what a task keeps of its images."""
    if isinstance(task, RegressionTask):
        images, length = task.vectors.shape
        return f"{images:,} vectors of {length} numbers"
    return f"sums of features of {len(task.classes):,} classes"
