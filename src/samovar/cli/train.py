"""`samovar train PRESET`: the flags are the fields of the preset's settings."""

import dataclasses
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from samovar.core.suggestions import did_you_mean
from samovar.errors import SettingsError
from samovar.settings.presets import PRESETS, Preset
from samovar.settings.training import Devices, TrainSettings

DEFAULT = "glyphs"
"""The preset of `samovar train` without a name."""
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
    init: Path | None = None
    """Start from the weights in this model folder."""
    devices: Annotated[Devices, tyro.conf.arg(name="")] = field(default_factory=Devices)
    tensorboard: bool = False
    """Also write TensorBoard files into the run folder."""


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
    _train(name, command)


def _description(preset: Preset) -> str:
    published = ""
    if preset.published is not None:
        published = f" Published: {preset.published.accuracy} ± {preset.published.ci95} %."
    resume = "The same command resumes a stopped run."
    return f"{preset.about}.{published} {resume} `samovar presets` lists the other presets."


def _train(name: str, command: TrainCommand) -> None:
    from samovar.core.progress import event
    from samovar.reporting.training_display import TrainingDisplay
    from samovar.training.own_data import prepare_own
    from samovar.training.run import train

    settings = command.settings
    notes: list[str] = []
    if name in OWN_DATA:
        settings, notes = prepare_own(name, settings, command.root)
    elif command.root is not None:
        raise SettingsError(
            "--root is for the presets folder and features; "
            "prepare other data with `samovar data prepare`."
        )
    out = command.out or Path("runs") / name
    if _is_first_process():
        # The complete settings open every log, so that it can be read without the run folder.
        print(json.dumps(dataclasses.asdict(settings)), file=sys.stderr)
    with TrainingDisplay(settings, out, tensorboard=command.tensorboard) as display:
        for note in notes:
            display(event(note))
        run = train(
            settings, out, preset=name, devices=command.devices, init=command.init, watch=display
        )
    if run is not None:
        # Drawing needs matplotlib, which training itself does not.
        from samovar.reporting.run_report import write_report

        write_report(run, published=PRESETS[name].published)


def _is_first_process() -> bool:
    """Return whether this is the first of the processes that torchrun or SLURM may have launched.

    Fabric knows it too, but only once it is launched, after the settings have been printed.
    """
    rank = os.environ.get("RANK") or os.environ.get("LOCAL_RANK") or "0"
    return rank == "0"
