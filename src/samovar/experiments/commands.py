"""The command that trains a cell: the nearest preset, and a flag for each difference from it."""

import shlex
from typing import Any

from samovar.experiments.cell import Cell
from samovar.experiments.evidence import Workplace
from samovar.settings.presets import PRESETS, Preset
from samovar.settings.stored import Difference, differences


def training_arguments(cell: Cell, place: Workplace) -> list[str]:
    """Return the arguments of `samovar` that train a cell."""
    preset = nearest_preset(cell)
    arguments = ["train", preset.name]
    for difference in differences(preset.settings, cell.settings):
        arguments += flag(difference)
    return [*arguments, "--out", str(place.run(cell))]


def shell_command(cell: Cell, place: Workplace) -> str:
    """Return a line that trains a cell, for a shell or any scheduler."""
    return shlex.join(["samovar", *training_arguments(cell, place)])


def nearest_preset(cell: Cell) -> Preset:
    """Return the preset that needs the fewest flags; of equal ones the cell's own."""

    def distance(preset: Preset) -> tuple[int, bool]:
        return len(differences(preset.settings, cell.settings)), preset.name != cell.preset

    return min(PRESETS.values(), key=distance)


def flag(difference: Difference) -> list[str]:
    """Return the words of the command line that set a field to its new value.

    >>> flag(Difference(("optimizer", "drops"), (), (100, 200)))
    ['--optimizer.drops', '100', '200']
    >>> flag(Difference(("model", "task_embedding"), True, False))
    ['--model.no-task-embedding']
    """
    # tyro writes a field of a nested dataclass as --outer.inner, and switches it off by
    # --outer.no-inner.
    names = [name.replace("_", "-") for name in difference.path]
    value: Any = difference.new
    if value is False:
        names[-1] = f"no-{names[-1]}"
    word = f"--{'.'.join(names)}"
    if isinstance(value, bool):
        return [word]
    if isinstance(value, tuple):
        return [word, *map(str, value)]
    return [word, str(value)]
