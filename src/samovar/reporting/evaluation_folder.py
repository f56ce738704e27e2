"""What `samovar evaluate` does: evaluate a model, print the tables and write the folder.

With one protocol everything is in one folder. With several, each has its own folder with
evaluation.json, evaluation.npz and its pictures, and report.html beside them shows all.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rich.console import Console

from samovar.artifacts.locate import evaluation_folder, locate_model
from samovar.artifacts.saved_model import load_model
from samovar.artifacts.saved_regression import SavedRegression
from samovar.core.devices import device_named
from samovar.core.files import output_folder, write_whole
from samovar.core.processes import leave_together, make_fabric
from samovar.core.progress import Progress
from samovar.data.dataset import Dataset
from samovar.errors import SettingsError
from samovar.evaluation.evaluator import evaluator_for
from samovar.evaluation.sampling_study import sampling_study
from samovar.evaluation.task_evaluator import Evaluation, TaskEvaluator
from samovar.evaluation.task_runner import TaskRunner
from samovar.reporting.evaluated_data import AnyModel, open_data
from samovar.reporting.evaluation_tables import evaluation_table
from samovar.reporting.figures.classes import classes_figure
from samovar.reporting.figures.episode import draw_task
from samovar.reporting.figures.evaluation import (
    reliability_figure,
    risk_coverage_figure,
    rivals_figure,
    sampling_figure,
    shots_figure,
)
from samovar.reporting.former_evaluation import (
    SUMMARY,
    has_evaluation,
    keep_former,
    move_evaluation,
)
from samovar.reporting.html import Section, html_report
from samovar.reporting.progress_bar import progress_bar
from samovar.reporting.rival_tables import rival_tables
from samovar.settings.evaluation import EvaluationSettings
from samovar.settings.tasks import Protocol
from samovar.settings.training import Devices

STUDY_TASKS = 1000
"""The most tasks of a sampling study, which predicts each of them hundreds of times."""


def run_evaluation(
    model: Path, protocols: Sequence[Protocol], settings: EvaluationSettings
) -> None:
    """Evaluate a model under every protocol, print the results and write them into a folder."""
    folder = locate_model(model)
    saved = load_model(folder)
    dataset = open_data(saved, settings.data, protocols[0].split)
    _check(saved, dataset, settings)
    # Under torchrun every process gets its own device.
    device = device_named(settings.device)
    fabric = make_fabric(Devices(accelerator=device.type))
    fabric.launch()
    if fabric.world_size > 1:
        device = fabric.device
    evaluator = evaluator_for(saved, dataset, device, fabric)
    # All protocols are checked before the first one is measured, which may take hours.
    for protocol in protocols:
        evaluator.check(protocol)
    target = output_folder(settings.out or evaluation_folder(folder))
    if settings.once and _all_there(target, evaluator, protocols, settings):
        print(f"{target} has been evaluated in this way already.")
        return
    writer = _Writer(target, evaluator, model, quiet=not fabric.is_global_zero)
    with progress_bar("evaluating", quiet=writer.quiet) as progress:
        for position, protocol in enumerate(protocols):
            evaluation = evaluator.evaluate(
                protocol,
                temperature=settings.temperature,
                rivals=settings.rivals,
                progress=_part_of(progress, position, len(protocols)),
            )
            place = _folder_of(target, protocol, several=len(protocols) > 1)
            writer.add(place, evaluation, settings.draw)
    if settings.sampling_study:
        writer.add_study(protocols[0])
    writer.finish()
    leave_together(fabric)


def _check(saved: AnyModel, dataset: Dataset, settings: EvaluationSettings) -> None:
    """Refuse what cannot be drawn or studied."""
    if settings.draw and len(dataset.store.facts["shape"]) != 3:
        raise SettingsError("--draw needs images, but this data contains feature vectors.")
    if settings.sampling_study and isinstance(saved, SavedRegression):
        raise SettingsError("--sampling-study is for models that sample the classifier's weights.")


def _all_there(
    target: Path,
    evaluator: TaskEvaluator,
    protocols: Sequence[Protocol],
    settings: EvaluationSettings,
) -> bool:
    """Tell whether a folder has the evaluations that are asked for."""
    for protocol in protocols:
        place = _folder_of(target, protocol, several=len(protocols) > 1)
        # The file holds the norm that was in force, not "as trained".
        norm = "/".join(sorted(evaluator.norms(protocol))) or "none"
        wanted = {
            "protocol": asdict(protocol) | {"norm": norm},
            "model_identity": evaluator.identity,
            "data_identity": evaluator.dataset.part(protocol.split).identity,
        }
        if not has_evaluation(place, wanted, _picture_names(settings)):
            return False
    # The report is written last.
    return (target / "report.html").exists() and _has_study(target, settings)


def _picture_names(settings: EvaluationSettings) -> tuple[str, ...]:
    """Return the pictures that not every evaluation has."""
    names = [f"episode-{number}.png" for number in range(settings.draw)]
    if settings.rivals:
        names.append("rivals.png")
    return tuple(names)


def _has_study(target: Path, settings: EvaluationSettings) -> bool:
    return not settings.sampling_study or (target / "sampling.json").exists()


def _part_of(progress: Progress, position: int, parts: int) -> Progress:
    """Return a progress that reports one part of the whole work, the one at `position`."""

    def report(what: str, share: float) -> None:
        progress(what, (position + share) / parts)

    return report


def _folder_of(target: Path, protocol: Protocol, *, several: bool) -> Path:
    if not several:
        return target
    return target / f"{protocol.way}way-{protocol.shot}shot"


@dataclass(frozen=True)
class _Picture:
    """A PNG file with the caption that it has in the report."""

    file: str
    caption: str
    content: bytes


class _Writer:
    """Prints tables and writes files; `quiet` in all processes but the first."""

    def __init__(self, target: Path, evaluator: TaskEvaluator, model: Path, *, quiet: bool) -> None:
        self.target = target
        self.evaluator = evaluator
        self.model = model
        self.quiet = quiet
        self.sections: list[Section] = []
        self.folders: list[str] = []
        self.study: _Picture | None = None

    def add(self, folder: Path, evaluation: Evaluation, drawn: int) -> None:
        """Print and write one evaluation, with pictures of the first `drawn` tasks."""
        if self.quiet:
            return
        output_folder(folder)
        Console().print(evaluation_table(evaluation.results))
        for table in rival_tables(evaluation.results):
            Console().print(table.for_terminal())
        self._keep_former(folder, evaluation)
        # `samovar compare` notices if only one of the two files was written.
        write_whole(folder / "evaluation.npz", evaluation.tasks_file())
        content = json.dumps(evaluation.summary, indent=1).encode()
        write_whole(folder / "evaluation.json", content)
        pictures = self._pictures(evaluation, drawn)
        for picture in pictures:
            write_whole(folder / picture.file, picture.content)
        by_caption = {picture.caption: picture.content for picture in pictures}
        self.sections.append(Section(evaluation.results, by_caption))
        self.folders.append(folder.name)

    def _keep_former(self, folder: Path, evaluation: Evaluation) -> None:
        """Keep the files of an earlier evaluation that are in the way, and say where they are."""
        moved = keep_former(folder, evaluation.summary)
        if moved is None and folder != self.target and (self.target / SUMMARY).exists():
            moved = move_evaluation(self.target)  # the folder was that of a single evaluation
        if moved is not None:
            print(f"The earlier evaluation in {moved.parent} was another one; it is now in {moved}")

    def _pictures(self, evaluation: Evaluation, drawn: int) -> list[_Picture]:
        results = evaluation.results
        pictures = [
            _Picture(
                "reliability.png",
                "Accuracy over the top probability. Probabilities on the diagonal are calibrated.",
                reliability_figure(results),
            ),
            _Picture(
                "risk_coverage.png",
                "Share of wrong answers when only the most confident queries are answered.",
                risk_coverage_figure(results),
            ),
            _Picture(
                "classes.png",
                "The hardest classes and what they are mistaken for; the easiest for comparison.",
                classes_figure(results.classes),
            ),
        ]
        if results.rivals is not None:
            caption = "The same for the model and its rivals; dotted with a fitted temperature."
            pictures.append(_Picture("rivals.png", caption, rivals_figure(results)))
        for number in range(drawn):
            runner = self.evaluator.runner(results.protocol)
            assert isinstance(runner, TaskRunner)  # only images are drawn
            content = draw_task(runner, results.protocol, number)
            caption = f"Task {number}: support images, and queries with their probabilities."
            pictures.append(_Picture(f"episode-{number}.png", caption, content))
        return pictures

    def add_study(self, protocol: Protocol) -> None:
        """Measure accuracy over the number of samples; all processes take part, one writes."""
        episodes = min(STUDY_TASKS, protocol.episodes)
        protocol = replace(protocol, episodes=episodes, outside=0)
        runner = self.evaluator.runner(protocol)
        assert isinstance(runner, TaskRunner)  # regressions were refused before
        with progress_bar("sampling study", quiet=self.quiet) as progress:
            study = sampling_study(runner, protocol, progress=progress)
        if self.quiet:
            return
        size = f"{protocol.episodes} tasks, {study['repeats']} repeats"
        caption = f"Accuracy over the number of sampled classifiers ({size})."
        self.study = _Picture("sampling.png", caption, sampling_figure(study))
        write_whole(self.target / "sampling.json", json.dumps(study, indent=1).encode())
        write_whole(self.target / self.study.file, self.study.content)

    def finish(self) -> None:
        """Write the report over all evaluations, and print where everything is."""
        if self.quiet:
            return
        pictures = {}
        several = ""
        if len(self.sections) > 1:
            several = f" (in {', '.join(self.folders)})"
            content = shots_figure([section.results for section in self.sections])
            write_whole(self.target / "accuracy.png", content)
            pictures["Accuracy over shots, with a line for each way."] = content
        if self.study is not None:
            pictures[self.study.caption] = self.study.content
        report = html_report(f"Evaluation of {self.model}", self.sections, pictures)
        write_whole(self.target / "report.html", report.encode())
        print(
            f"Written into {self.target}: evaluation.json, evaluation.npz{several}, "
            "report.html and its pictures"
        )
