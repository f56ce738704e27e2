"""The questions of `samovar next --interactive`: a photo, a label, and the task has grown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from samovar.classifier.leave_one_out import LeaveOneOut
from samovar.classifier.loading import Fitted, save_fitted
from samovar.classifier.suggestions import suggest
from samovar.classifier.support_names import SupportNames
from samovar.classifier.user_inputs import UserInputs
from samovar.cli.fit_support import Start
from samovar.core.text import printable
from samovar.data.images.pictures import shown_picture
from samovar.reporting.terminal_picture import terminal_picture

SHOWN_SIDE = 160
"""Pixels of the picture before it is drawn with characters."""
SKIP = "-"
QUIT = "q"
HELP = f"Type a class, its number or a new name; Enter takes the guess, {SKIP} skips, {QUIT} ends."


class Unlabelled(NamedTuple):
    """The photos of a heap that the task does not have yet."""

    read: UserInputs
    known: int
    """How many the task has already."""

    @property
    def note(self) -> str:
        """A sentence about those that were left out."""
        if self.known == 1:
            return "1 photo was left out: the task has it already."
        return f"{self.known} photos were left out: the task has them already."


def unlabelled(
    read: UserInputs, digests: Mapping[str, str], earlier: SupportNames | None
) -> Unlabelled:
    """Leave out photos that a task has already, by the checksums of their files."""
    known = set() if earlier is None else set(earlier.digests)
    new = UserInputs(unreadable=read.unreadable)
    for file, image, position in zip(read.files, read.inputs, read.positions, strict=True):
        if digests[file.name] not in known:
            new.files.append(file)
            new.inputs.append(image)
            new.positions.append(position)
    return Unlabelled(new, len(read.files) - len(new.files))


@dataclass
class Questions:
    """A conversation about the photos of a heap."""

    task: Path
    start: Start
    read: UserInputs
    digests: Mapping[str, str]
    """The checksums of the files, by their names."""
    ask_for: Callable[[str], str] = input
    console: Console = field(default_factory=Console)

    def __post_init__(self) -> None:
        assert self.start.task is not None
        self.fitted: Fitted = self.start.task
        self.names = self.start.earlier
        self.left = list(range(len(self.read.inputs)))

    def ask(self, count: int) -> int:
        """Ask for the labels of at most so many photos; return how many were given.

        The task file is written after each answer, so that nothing is lost if the user goes away.
        """
        self.console.print(HELP, highlight=False)
        self._show_accuracy(self.fitted.leave_one_out(self.start.parameters))
        labelled = 0
        while labelled < count and self.left:
            label = self._next_label()
            if label is None:
                break
            position = self.left.pop(0)
            if label != SKIP:
                self._add(position, label)
                labelled += 1
        images = "1 photo was" if labelled == 1 else f"{labelled} photos were"
        self.console.print(f"{images} added to {printable(str(self.task))}.", markup=False)
        return labelled

    def _next_label(self) -> Any:
        """Show the most telling photo that is left, and return its label; None to end.

        The photo comes to the front of those that are left.
        """
        inputs = [self.read.inputs[position] for position in self.left]
        found = suggest(self.fitted, inputs, 1, self.start.parameters)
        self.left.insert(0, self.left.pop(int(found.positions[0])))
        file = self.read.files[self.left[0]]
        answer = self.fitted.answer([self.read.inputs[self.left[0]]], self.start.parameters)
        classes = self.fitted.task.classes
        guess = None
        prompt = "[none of these]? "
        if not answer.rejected[0]:
            guess = classes[int(answer.probabilities[0].argmax())]
            prompt = f"[{printable(str(guess))} {answer.probabilities[0].max():.0%}]? "
        if self.console.is_terminal:
            self.console.print(terminal_picture(shown_picture(file.read(), file.name, SHOWN_SIDE)))
        self.console.print(printable(file.name), markup=False, highlight=False)
        numbered = [f"{number} {label}" for number, label in enumerate(classes, start=1)]
        self.console.print(printable("  ".join(numbered)), markup=False, highlight=False)
        try:
            typed = self.ask_for(prompt)
        except EOFError:
            return None
        return understood(typed, classes, guess)

    def _add(self, position: int, label: Any) -> None:
        """Let the task grow by a photo, and write it."""
        self.fitted = self.fitted.extended([self.read.inputs[position]], [label])
        file = self.read.files[position]
        if self.names is not None:
            name = SupportNames((file.name,), (label,), (self.digests[file.name],))
            self.names = self.names + name
        measured = self.fitted.leave_one_out(self.start.parameters)
        place = self.start.place
        save_fitted(self.task, self.fitted, place, self.start.parameters, measured, self.names)
        self._show_accuracy(measured)

    def _show_accuracy(self, measured: LeaveOneOut | None) -> None:
        if measured is None:
            text = "leave-one-out: not known of this task"
        else:
            bar = "█" * round(30 * measured.accuracy)
            text = f"leave-one-out {bar} {measured.accuracy:.0%} of {measured.images} photos right"
        self.console.print(text, markup=False, highlight=False)


def understood(typed: str, classes: Sequence[Any], guess: Any) -> Any:
    """Return the label that a user means: a class, a new name, SKIP, or None to end.

    Enter means the guess; where there is none, since the photo is none of these, it skips.

    >>> understood("", ["cat", "dog"], "dog"), understood("1", ["cat", "dog"], "dog")
    ('dog', 'cat')
    >>> understood("bird", ["cat"], "cat"), understood("q", ["cat"], "cat")
    ('bird', None)
    """
    text = typed.strip()
    if not text:
        return SKIP if guess is None else guess
    for label in classes:
        if str(label) == text:
            return label
    if text == QUIT:
        return None
    if text.isdecimal() and 1 <= int(text) <= len(classes):
        return classes[int(text) - 1]
    return text
