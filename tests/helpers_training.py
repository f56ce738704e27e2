"""Tiny trainings: their settings, their commands, and a stop in the middle."""

import dataclasses
import re
import sys
from dataclasses import replace
from pathlib import Path

from helpers import make_store

from samovar.settings.data import AugmentationSettings, DataSettings
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import EpisodeSettings
from samovar.settings.training import OptimizerSettings, TrainSettings, ValidationSettings

TINY = TrainSettings(
    data=DataSettings("toy"),
    model=ModelSettings(backbone="conv4", size=12, width=4, dropout=0.3, samples=3),
    episodes=EpisodeSettings(3, 2, 3),
    tasks=2,
    updates=12,
    augmentation=AugmentationSettings(flip=True, crop_padding=1, jitter=0.2),
    validation=ValidationSettings(
        every=4, tasks=4, way=3, queries=3, samples=4, test_tasks=4, test_samples=4
    ),
    checkpoint_every=3,
    trace_every=1,
)


RESNET = replace(
    TINY,
    model=ModelSettings(
        backbone="resnet12",
        classifier="cosine",
        size=12,
        width=4,
        samples=3,
        task_embedding=True,
        auxiliary_classes=6,
    ),
    optimizer=OptimizerSettings(
        "sgd", 0.05, schedule="drops", drops=(6,), clip=0.1, decay_extractor=5e-4
    ),
)


def make_toy_data(folder: Path) -> None:
    """Twelve classes of ten images whose shade tells the class."""
    names = [f"class {i}" for i in range(12)]
    split = {"train": names[:6], "val": names[6:9], "test": names[9:]}
    make_store(folder, [10] * 12, (12, 12, 3), split)


def events(lines: list[dict]) -> list[str]:
    """What a watch was told in words."""
    return [line["event"] for line in lines if "event" in line]


def weights(folder: Path) -> bytes:
    return (folder / "model" / "model.safetensors").read_bytes()


def command(
    settings: TrainSettings, out: Path, *more: str, launcher: tuple[str, ...] = ()
) -> list[str]:
    """The command line that trains these settings, with a flag for each field."""
    flags: list[str] = []

    def add(value: object, prefix: str) -> None:
        for field in dataclasses.fields(value):
            name, each = f"{prefix}{field.name}".replace("_", "-"), getattr(value, field.name)
            if dataclasses.is_dataclass(each):
                add(each, f"{name}.")
            elif isinstance(each, bool):
                flags.append(
                    f"--{name}"
                    if each
                    else "--{}no-{}".format(*re.match(r"(.*\.)?(.*)", name).groups(""))
                )
            elif isinstance(each, tuple):
                flags.extend([f"--{name}", *map(str, each)])
            else:
                flags.extend([f"--{name}", str(each)])

    add(settings, "")
    return [
        sys.executable,
        *launcher,
        "-m",
        "samovar",
        "train",
        "glyphs",
        *flags,
        "--out",
        str(out),
        *more,
    ]


def stop_at(update: int):
    def watch(line: dict) -> None:
        if line.get("update") == update:
            raise KeyboardInterrupt

    return watch
