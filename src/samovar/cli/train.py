"""`samovar train PRESET`: the flags are the fields of the preset's settings."""

import dataclasses
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from samovar.artifacts.locate import locate_model
from samovar.core.suggestions import did_you_mean
from samovar.errors import DataError, SettingsError
from samovar.settings.presets import PRESETS, Preset
from samovar.settings.training import Devices, TrainSettings

if TYPE_CHECKING:
    from samovar.training.own_data import OwnData

DEFAULT = "glyphs"
"""The preset of `samovar train` without a name."""
NOTHING = "none"
"""The value of --init that starts from random weights."""
OWN_DATA = ("folder", "features")
"""Presets that are trained on the user's own data."""


@dataclass(frozen=True)
class TrainCommand:
    """Train a model. Every setting of the preset is a flag; the same command resumes a run."""

    settings: Annotated[TrainSettings, tyro.conf.arg(name="")] = field(
        default_factory=TrainSettings
    )
    out: Path | None = None
    """The run folder; runs/PRESET by default."""
    root: Path | None = None
    """Your images (folder) or vectors (features); for data prepared already, use --data.name."""
    init: str | None = None
    """Start from the weights of a model: shipped (cifar_fs), a run folder or a model folder. On
    your own images a fitting shipped model by default; none starts from random weights."""
    devices: Annotated[Devices, tyro.conf.arg(name="")] = field(default_factory=Devices)
    tensorboard: bool = False
    """Also write TensorBoard files into the run folder."""
    compare: bool = True
    """Compare the trained model with the best fitting shipped one (folder and features)."""


def run_train(arguments: list[str]) -> None:
    """Parse the flags of a preset and train it."""
    name = DEFAULT
    if arguments and not arguments[0].startswith("-"):
        name = arguments[0]
        arguments = arguments[1:]
    if name not in PRESETS:
        near = did_you_mean(name, PRESETS)
        raise SettingsError(f"There is no preset {name!r}.{near} `samovar presets` lists them.")
    command = tyro.cli(
        TrainCommand,
        prog=f"samovar train {name}",
        description=_description(PRESETS[name]),
        default=TrainCommand(PRESETS[name].settings),
        args=arguments,
    )
    given = given_flags(arguments)
    _train(name, validated_as_trained(command, given), given)


def _description(preset: Preset) -> str:
    published = ""
    if preset.published is not None:
        published = f" Published: {preset.published.accuracy} ± {preset.published.ci95} %."
    resume = "The same command resumes a stopped run."
    return f"{preset.about}.{published} {resume} `samovar presets` lists the other presets."


def given_flags(arguments: list[str]) -> frozenset[str]:
    """Return the names of the flags that the user has set, as paths of fields.

    >>> sorted(given_flags(["--episodes.shot", "5", "--model.last-skip=False"]))
    ['episodes.shot', 'model.last_skip']
    """
    names = set()
    for argument in arguments:
        if argument.startswith("--"):
            names.add(argument[2:].partition("=")[0].replace("-", "_"))
    return frozenset(names)


def validated_as_trained(command: TrainCommand, given: frozenset[str]) -> TrainCommand:
    """Validate and test at the shot that the user trains, unless another one is asked for."""
    if "episodes.shot" not in given or "validation.shot" in given:
        return command
    settings = command.settings
    validation = dataclasses.replace(settings.validation, shot=settings.episodes.shot)
    settings = dataclasses.replace(settings, validation=validation)
    return dataclasses.replace(command, settings=settings)


def _train(name: str, command: TrainCommand, given: frozenset[str]) -> None:
    _check_paths(name, command)
    from samovar.core.progress import event
    from samovar.reporting.training_display import TrainingDisplay, changed_settings
    from samovar.training.run import train

    init = command.init
    settings = command.settings
    notes: list[str] = []
    if name in OWN_DATA:
        own = _own_data(name, command, given)
        settings = own.settings
        notes = own.notes
        init = own.init
    elif init == NOTHING:
        init = None
    out = command.out or Path("runs") / name
    if _is_first_process():
        preset = PRESETS[name]
        print("\n".join(changed_settings(preset, settings, out)), file=sys.stderr)
    with TrainingDisplay(settings, out, tensorboard=command.tensorboard) as display:
        for note in notes:
            display(event(note))
        run = train(settings, out, preset=name, devices=command.devices, init=init, watch=display)
    if run is None:
        return
    # Drawing needs matplotlib, which training itself does not.
    from samovar.reporting.run_report import write_report
    from samovar.reporting.shipped_comparison import report_comparison

    write_report(run, published=PRESETS[name].published)
    if name in OWN_DATA and command.compare:
        report_comparison(run)


def _check_paths(name: str, command: TrainCommand) -> None:
    """Refuse data and a model to start from that are not there, before anything heavy is loaded."""
    if command.root is not None:
        if name not in OWN_DATA:
            raise SettingsError(
                "--root is for the presets folder and features; "
                "prepare other data with `samovar data prepare`."
            )
        if not command.root.exists():
            raise DataError(f"There is no file or folder {command.root} (--root).")
    if command.init is not None and command.init != NOTHING:
        locate_model(command.init)


def _own_data(name: str, command: TrainCommand, given: frozenset[str]) -> "OwnData":
    from samovar.reporting.progress_bar import progress_bar
    from samovar.training.own_data import prepare_own

    quiet = command.root is None or not _is_first_process()
    with progress_bar(f"preparing {command.root}", quiet=quiet) as progress:
        return prepare_own(name, command.settings, command.root, given, command.init, progress)


def _is_first_process() -> bool:
    """Return whether this is the first of the processes that torchrun or SLURM may have launched.

    Fabric knows it too, but only once it is launched, after the settings have been printed.
    """
    rank = os.environ.get("RANK") or os.environ.get("LOCAL_RANK") or "0"
    return rank == "0"
