"""The commands that make a cell: one that trains it, and one that also measures it."""

from samovar.cluster.piece import Piece
from samovar.core.storage import absolute
from samovar.experiments.cell import Cell
from samovar.experiments.evidence import Workplace
from samovar.experiments.options import ReproduceOptions
from samovar.settings.flags import flags_for
from samovar.settings.presets import PRESETS, Preset
from samovar.settings.stored import differences


def training_arguments(cell: Cell, place: Workplace) -> list[str]:
    """Return the arguments of `samovar` that train a cell.

    They name the nearest preset, and have a flag for each difference from it.
    """
    preset = nearest_preset(cell)
    flags = flags_for(preset.settings, cell.settings)
    return ["train", preset.name, *flags, "--out", str(place.run(cell))]


def nearest_preset(cell: Cell) -> Preset:
    """Return the preset that needs the fewest flags; of equal ones the cell's own."""

    def distance(preset: Preset) -> tuple[int, bool]:
        return len(differences(preset.settings, cell.settings)), preset.name != cell.preset

    return min(PRESETS.values(), key=distance)


def cell_piece(cell: Cell, options: ReproduceOptions) -> Piece:
    """Return the piece that trains and measures a cell, wherever it runs."""
    arguments = ["reproduce", "--cell", cell.name, "--scale", options.scale]
    arguments += ["--runs", absolute(options.runs), "--out", absolute(options.out)]
    if options.keep_weights:
        arguments.append("--keep-weights")
    return Piece(cell.name, tuple(arguments))
