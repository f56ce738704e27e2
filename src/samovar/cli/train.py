"""`samovar train PRESET`."""

import dataclasses
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from samovar.errors import SettingsError
from samovar.settings.presets import PRESETS
from samovar.settings.training import Devices, TrainSettings

DEFAULT = "glyphs"


def train() -> None:
    """Train a model: samovar train PRESET; `glyphs` without one. The same command goes on after a stop."""


@dataclass(frozen=True)
class TrainCommand:
    """Train a model. Every field of the preset is a flag; the same command goes on after a stop."""

    settings: Annotated[TrainSettings, tyro.conf.arg(name="")] = field(
        default_factory=TrainSettings
    )
    out: Path | None = None
    """The run folder; runs/PRESET if not given."""
    root: Path | None = None
    """Your images (folder) or vectors (features); what is prepared already is named by --data.name instead."""
    init: Path | None = None
    """Start from the weights of a model folder."""
    devices: Annotated[Devices, tyro.conf.arg(name="")] = field(default_factory=Devices)
    tensorboard: bool = False
    """Write TensorBoard files into the run folder too."""


def run_train(arguments: list[str]) -> None:
    """Parse the flags of a preset and train it."""
    named = bool(arguments) and not arguments[0].startswith("-")
    name = arguments[0] if named else DEFAULT
    if name not in PRESETS:
        raise SettingsError(f"There is no preset {name!r}. `samovar presets` lists them.")
    preset = PRESETS[name]
    published = (
        f" Published: {preset.published.accuracy} ± {preset.published.ci95} %."
        if preset.published
        else ""
    )
    command = tyro.cli(
        TrainCommand,
        prog=f"samovar train {name}",
        description=f"{preset.about}.{published} The same command goes on after a stop.",
        default=TrainCommand(preset.settings),
        args=arguments[1:] if named else arguments,
    )
    _train(name, command)


def _train(name: str, command: TrainCommand) -> None:
    from samovar.reporting.training_display import TrainingDisplay
    from samovar.training.own_data import prepare_own
    from samovar.training.run import train

    settings, said = command.settings, list[str]()
    if name in ("folder", "features"):
        settings, said = prepare_own(name, settings, command.root)
    elif command.root is not None:
        raise SettingsError(
            "--root is for the presets folder and features; prepare other data with `samovar data prepare`."
        )
    out = command.out or Path("runs") / name
    if os.environ.get("RANK", os.environ.get("LOCAL_RANK", "0")) == "0":
        print(json.dumps(dataclasses.asdict(settings)), file=sys.stderr)
    with TrainingDisplay(settings, out, tensorboard=command.tensorboard) as display:
        for sentence in said:
            display({"event": sentence})
        run = train(
            settings, out, preset=name, devices=command.devices, init=command.init, watch=display
        )
    if run is not None:
        from samovar.reporting.run_report import write_report

        write_report(run, published=PRESETS[name].published)
