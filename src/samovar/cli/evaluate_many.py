"""`samovar evaluate` of many models or protocols: a piece for each pair, and one table."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from samovar.cluster.piece import Piece
from samovar.core.storage import absolute, local_folder
from samovar.errors import SettingsError
from samovar.settings.engine import EngineSettings
from samovar.settings.evaluation import EvaluationSettings
from samovar.settings.flags import flags_for
from samovar.settings.tasks import Protocol


@dataclass(frozen=True)
class PlannedEvaluation:
    """One model, one protocol, and the folder of what comes of it."""

    model: Path
    protocol: Protocol
    folder: Path

    def piece(self, settings: EvaluationSettings) -> Piece:
        """Return the piece that makes it, unless it is there."""
        from samovar.artifacts.locate import shipped_models

        protocol = self.protocol
        name = f"{self.model}-{protocol.way}way-{protocol.shot}shot"
        model = str(self.model)
        if model not in shipped_models() and self.model.exists():
            model = str(self.model.absolute())
        there = replace(settings, out=None, once=True, data=_data(settings))
        flags = flags_for(Protocol(), protocol) + flags_for(EvaluationSettings(), there)
        return Piece(name, ("evaluate", model, *flags, "--out", absolute(self.folder)))


def _data(settings: EvaluationSettings) -> str | None:
    """Return the data as another folder sees it: a file by its whole path."""
    if settings.data is not None and Path(settings.data).exists():
        return str(Path(settings.data).absolute())
    return settings.data


@contextmanager
def evaluated_folder(settings: EvaluationSettings) -> Iterator[EvaluationSettings]:
    """Yield the settings with a local folder that stands for the one of the results."""
    if settings.out is None:
        yield settings
        return
    with local_folder(settings.out) as out:
        yield replace(settings, out=out)


def evaluate_many(
    models: Sequence[Path],
    protocols: Sequence[Protocol],
    settings: EvaluationSettings,
    engine: EngineSettings,
) -> None:
    """Evaluate every model under every protocol, and print one table."""
    from samovar.cli.main import main
    from samovar.cluster.engine import run_pieces
    from samovar.reporting.many_evaluations import report_evaluations
    from samovar.reporting.progress_bar import progress_bar

    if settings.sampling_study and len(protocols) > 1:
        raise SettingsError("--sampling-study is made for one protocol: name one way and shot.")
    planned = planned_evaluations(models, protocols, settings)
    pieces = [evaluation.piece(settings) for evaluation in planned]
    with progress_bar("evaluating") as progress:
        run_pieces(pieces, main, engine, progress)
    folders = [(evaluation.model, evaluation.folder) for evaluation in planned]
    report_evaluations(folders, settings.out)


def planned_evaluations(
    models: Sequence[Path], protocols: Sequence[Protocol], settings: EvaluationSettings
) -> list[PlannedEvaluation]:
    """Return every pair of a model and a protocol, each with a folder of its own."""
    from samovar.artifacts.locate import evaluation_folder, locate_model

    planned = []
    for model in dict.fromkeys(models):
        located = locate_model(model)
        folder = evaluation_folder(located)
        if settings.out is not None:
            # All of the path, since the last part may be the same for many models.
            folder = settings.out / "-".join(model.parts).lstrip("/.-")
        for protocol in protocols:
            place = folder / f"{protocol.way}way-{protocol.shot}shot"
            planned.append(PlannedEvaluation(model, protocol, place))
    _check_folders(planned)
    return planned


def _check_folders(planned: list[PlannedEvaluation]) -> None:
    """Refuse models whose results would go to the same place."""
    models: dict[Path, Path] = {}
    for evaluation in planned:
        other = models.setdefault(evaluation.folder, evaluation.model)
        if other != evaluation.model:
            raise SettingsError(
                f"{other} and {evaluation.model} would both be evaluated into "
                f"{evaluation.folder.parent}. Evaluate them one by one, with --out."
            )
