"""What `samovar evaluate` does: measure, print, write the files and the report."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from samovar.artifacts.locate import evaluation_folder, locate_model
from samovar.artifacts.saved_model import load_model
from samovar.core.devices import device_named
from samovar.core.files import output_folder, write_whole
from samovar.core.processes import leave_together, make_fabric
from samovar.data.dataset import Dataset
from samovar.data.preparation import ready
from samovar.data.store import data_folder
from samovar.errors import SettingsError
from samovar.evaluation.evaluator import Evaluation, Evaluator, training_dataset
from samovar.evaluation.sampling_study import sampling_study
from samovar.reporting.figures.episode import draw_task
from samovar.reporting.figures.evaluation import (
    classes_figure,
    grid_figure,
    reliability_figure,
    risk_coverage_figure,
    sampling_figure,
)
from samovar.reporting.html import Section, html_report
from samovar.reporting.progress_bar import progress_bar
from samovar.reporting.tables import evaluation_table
from samovar.settings.tasks import Protocol
from samovar.settings.training import Devices


@dataclass(frozen=True)
class Wanted:
    """What to measure, and where to write it."""

    protocols: list[Protocol]
    temperature: bool = True
    draw: int = 0
    sampling_study: bool = False
    data: str | None = None
    device: str = "cpu"
    out: Path | None = None


def run_evaluation(path: Path, wanted: Wanted) -> None:
    """Measure a model and leave everything in a folder."""
    if not 0 <= wanted.draw <= 100:
        raise SettingsError("--draw must be from 0 to 100 tasks.")
    folder = locate_model(path)
    saved = load_model(folder)
    first = wanted.protocols[0]
    own = saved.training.get("settings", {}).get("data", {}).get("name")
    name = wanted.data or own
    prepared = name is None or (data_folder() / name).exists()
    with progress_bar(f"preparing {name}", quiet=prepared) as progress:
        if name == own:  # then the split is that of the training
            dataset = training_dataset(saved, first.split, progress)
        else:
            dataset = Dataset(ready(name, progress), first.split)
    if wanted.draw and len(dataset.store.facts["shape"]) != 3:
        raise SettingsError("--draw needs images; this data holds feature vectors.")
    device = device_named(wanted.device)
    fabric = make_fabric(Devices(accelerator=device.type))
    fabric.launch()
    device = fabric.device if fabric.world_size > 1 else device
    evaluator = Evaluator(saved, dataset, device, fabric)
    for protocol in wanted.protocols:
        evaluator.check(protocol)
    target = output_folder(wanted.out or evaluation_folder(folder))
    writer = _Writer(target, evaluator, wanted, quiet=not fabric.is_global_zero)
    with progress_bar("evaluating", quiet=writer.quiet) as progress:
        for position, protocol in enumerate(wanted.protocols):

            def part(what: str, share: float, done: int = position) -> None:
                progress(what, (done + share) / len(wanted.protocols))

            evaluation = evaluator.evaluate(protocol, temperature=wanted.temperature, progress=part)
            writer.add(protocol, evaluation)
    if wanted.sampling_study:
        with progress_bar("sampling study", quiet=writer.quiet) as progress:
            writer.study(replace(first, episodes=min(1000, first.episodes), outside=0), progress)
    writer.finish()
    leave_together(fabric)


class _Writer:
    """Files, pictures and tables; silent in all processes but the first."""

    def __init__(self, target: Path, evaluator: Evaluator, wanted: Wanted, *, quiet: bool) -> None:
        self.target, self.evaluator, self.wanted, self.quiet = target, evaluator, wanted, quiet
        self.sections: list[Section] = []
        self.folders: list[str] = []
        self.pictures: dict[str, bytes] = {}

    def add(self, protocol: Protocol, evaluation: Evaluation) -> None:
        if self.quiet:
            return
        several = len(self.wanted.protocols) > 1
        folder = (
            output_folder(self.target / f"{protocol.way}way-{protocol.shot}shot")
            if several
            else self.target
        )
        self.folders.append(folder.name)
        summary = evaluation.summary
        Console().print(evaluation_table(summary))
        write_whole(folder / "evaluation.npz", evaluation.tasks_file())
        write_whole(folder / "evaluation.json", json.dumps(summary, indent=1).encode())
        pictures = {
            "reliability.png": (
                "Are the probabilities right? On the diagonal they are.",
                reliability_figure(summary),
            ),
            "risk_coverage.png": (
                "Errors among the answers one keeps.",
                risk_coverage_figure(summary),
            ),
            "classes.png": ("The hardest and the easiest classes.", classes_figure(summary)),
        }
        for number in range(self.wanted.draw):
            content = draw_task(self.evaluator.tasks(protocol), protocol, number)
            pictures[f"episode-{number}.png"] = (
                f"Task {number}: what the model believes.",
                content,
            )
        for name, (_, content) in pictures.items():
            write_whole(folder / name, content)
        self.sections.append((summary, dict(pictures.values())))

    def study(self, protocol: Protocol, progress: Callable[[str, float], None]) -> None:
        study = sampling_study(
            self.evaluator.tasks(protocol), protocol, progress=progress
        )  # by all processes
        if self.quiet:
            return
        content = sampling_figure(study)
        write_whole(self.target / "sampling.json", json.dumps(study, indent=1).encode())
        write_whole(self.target / "sampling.png", content)
        size = f"{protocol.episodes} tasks, {study['repeats']} repeats"
        self.pictures[f"Accuracy over the number of sampled classifiers ({size})."] = content

    def finish(self) -> None:
        if self.quiet:
            return
        if len(self.sections) > 1:
            content = grid_figure([summary for summary, _ in self.sections])
            write_whole(self.target / "accuracy.png", content)
            self.pictures = {"Accuracy over ways and shots.": content} | self.pictures
        write_whole(
            self.target / "report.html",
            html_report("Evaluation", self.sections, self.pictures).encode(),
        )
        several = f" (in {', '.join(self.folders)})" if len(self.folders) > 1 else ""
        print(
            f"Written into {self.target}: evaluation.json, evaluation.npz{several}, report.html and its pictures"
        )
