"""`samovar evaluate RUN_OR_MODEL`."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from samovar.cli.evaluate_many import evaluate_many, evaluated_folder
from samovar.errors import SettingsError
from samovar.settings.engine import EngineSettings
from samovar.settings.evaluation import EvaluationSettings
from samovar.settings.tasks import Protocol, named_protocol

FIXED_BY_NAME = ("queries", "pooled_queries", "episodes", "samples")
"""Fields that a named protocol determines, besides the way."""

Name = Literal["paper", "tadam", "versa"]


@dataclass(frozen=True)
class ProtocolFlags(Protocol):
    """The fields of a protocol as flags, without way and shot, of which there may be several."""

    # Fixed and hidden: `evaluate` has its own --way and --shot.
    way: tyro.conf.Suppress[tyro.conf.Fixed[int]] = Protocol.way
    shot: tyro.conf.Suppress[tyro.conf.Fixed[int]] = Protocol.shot


def evaluate(  # noqa: PLR0913 (a flag each)
    models: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="MODEL")],
    *,
    way: tuple[int, ...] = (Protocol.way,),
    shot: tuple[int, ...] = (Protocol.shot,),
    protocol: Annotated[ProtocolFlags, tyro.conf.arg(name="")],
    named: Name | None = None,
    settings: Annotated[EvaluationSettings, tyro.conf.arg(name="")],
    engine: Annotated[EngineSettings, tyro.conf.arg(name="")],
) -> None:
    """Measure accuracy, likelihood, calibration and uncertainty of a model, with 95 % intervals.

    To show what averaging gains, metrics are given both for the mean over sampled classifiers and
    for the one classifier at the mean of the predicted weights, each as it is and with a
    temperature fitted on validation tasks. --rivals puts simple classifiers on the same features
    beside them. Writes evaluation.json, evaluation.npz with the metrics
    of each task (for `samovar compare`), report.html and its pictures. With several ways or shots,
    each combination has its own folder (such as 5way-1shot) beside the common report. Under
    torchrun the processes share the work. Several models, or an engine (--ray, --slurm), make every
    pair of a model and a protocol a piece of work of its own, with a folder and a report of its
    own, and one table over all of them.

    Args:
        models: Run folders, model folders or shipped models (glyphs, omniglot, cifar_fs; photos
            with --data FILE.npz, vectors of its encoder).
        way: Classes of a task; several values for several evaluations.
        shot: Support images of each class; several values for several evaluations.
        protocol: How to measure.
        named: The protocol of a paper: paper (5-way, 5000 tasks with 15 queries per class), tadam
            (100 queries in all) or versa (600 tasks, as many queries as shots). It determines
            --way, --queries, --pooled-queries, --episodes and --samples; all other flags still
            apply.
        settings: What else to do, and where to write.
        engine: Where several evaluations run; by default here, one after the other.
    """
    if not models:
        raise SettingsError("Name a model: a run folder, a model folder or a shipped model.")
    protocols = chosen_protocols(protocol, way, shot, named)
    if len(models) > 1 or engine.chosen:
        evaluate_many(models, protocols, settings, engine)
        return

    # Only now, so that --help and refused flags need neither torch nor matplotlib.
    from samovar.reporting.evaluation_folder import run_evaluation

    with evaluated_folder(settings) as here:
        run_evaluation(models[0], protocols, here)


def chosen_protocols(
    flags: ProtocolFlags, ways: tuple[int, ...], shots: tuple[int, ...], named: Name | None
) -> list[Protocol]:
    """Return the protocols that the flags ask for, or refuse flags that contradict each other."""
    if not ways or not shots:
        raise SettingsError("--way and --shot need at least one number each.")
    if named is None:
        return _grid(flags, ways, shots)
    _check_named(named, flags, ways)
    return _named_protocols(named, flags, shots)


def _grid(flags: ProtocolFlags, ways: tuple[int, ...], shots: tuple[int, ...]) -> list[Protocol]:
    """Return a protocol for every pair of way and shot; repeated numbers count once."""
    protocols = []
    for way in dict.fromkeys(ways):
        for shot in dict.fromkeys(shots):
            protocols.append(Protocol(**asdict(flags) | {"way": way, "shot": shot}))
    return protocols


def _check_named(named: Name, flags: ProtocolFlags, ways: tuple[int, ...]) -> None:
    """Refuse flags that contradict a named protocol."""
    given = []
    if ways != (Protocol.way,):
        given.append("--way")
    for name in FIXED_BY_NAME:
        if getattr(flags, name) != getattr(Protocol, name):
            given.append(f"--{name.replace('_', '-')}")
    if given:
        raise SettingsError(
            f"--named {named} determines the way, queries, tasks and samples: "
            f"leave out {', '.join(given)}."
        )


def _named_protocols(named: Name, flags: ProtocolFlags, shots: tuple[int, ...]) -> list[Protocol]:
    others = asdict(flags)
    for name in ("way", "shot", *FIXED_BY_NAME):
        del others[name]
    return [named_protocol(named, shot, **others) for shot in dict.fromkeys(shots)]
