"""Measure the trained model of a cell, and keep the numbers; the weights only if that is wanted.

Of a training that diverged there is nothing to measure. That it did, and when, is kept instead.
"""

import json
import time
from dataclasses import replace
from typing import Any

from samovar.artifacts.saved_model import load_network, save_model
from samovar.core.files import output_folder, write_whole
from samovar.evaluation.evaluator import Evaluator, training_dataset
from samovar.evaluation.posterior_study import prior_and_posterior
from samovar.evaluation.sampling_study import sampling_study
from samovar.experiments.cell import Cell
from samovar.experiments.evidence import Evidence, Workplace
from samovar.reporting.progress_bar import progress_bar
from samovar.settings.stored import to_dict
from samovar.settings.tasks import Protocol
from samovar.training.run_folder import RunFolder
from samovar.training.stored_metrics import read_metrics

TRACE_EVERY = 250
"""Updates between the lines of metrics that are kept."""


def measure(cell: Cell, place: Workplace, device: str = "cpu") -> None:
    """Evaluate a trained cell under all its protocols; evidence that is there already stays."""
    evidence = Evidence(cell, place)
    if evidence.run.diverged_at is not None:
        _keep_divergence(cell, place, evidence.run.diverged_at)
        return
    # Evaluations next to a training.json of other settings are of other weights.
    reusable = evidence.training is not None
    network = load_network(evidence.run.model)
    # Tables show the paper's own predictive; the calibrated one beside it takes more than twice as
    # long.
    saved = replace(network, calibration=None)
    evaluator = Evaluator(saved, training_dataset(saved, cell.protocol.split), device)
    for protocol in cell.protocols:
        if not (reusable and evidence.has_evaluation(protocol)):
            _keep_evaluation(cell, place, evaluator, protocol)
    if cell.study is not None and evidence.study is None:
        _keep_study(cell, place, evaluator, cell.study)
    if place.keeps_weights:
        save_model(network, place.weights(cell))
    _keep_training(cell, place, evaluator, evidence.run)


def _keep_divergence(cell: Cell, place: Workplace, update: int) -> None:
    content = {
        "format": 1,
        "name": cell.name,
        "settings": to_dict(cell.settings),
        "update": update,
        "measured": _today(),
    }
    output_folder(place.divergence(cell).parent)
    write_whole(place.divergence(cell), json.dumps(content).encode())


def _keep_evaluation(
    cell: Cell, place: Workplace, evaluator: Evaluator, protocol: Protocol
) -> None:
    # Prototypes have no probabilities but those of an alpha that somebody chose, so a fitted
    # temperature stands beside them.
    evaluation = evaluator.evaluate(protocol, temperature=cell.settings.model.deterministic)
    folder = output_folder(place.evaluation(cell, protocol))
    summary = dict(evaluation.summary)
    # Metrics of each class, and calibration bins of each task, would make the files ten times as
    # large.
    del summary["classes"]
    write_whole(folder / "evaluation.npz", evaluation.tasks_file(bins=False))
    write_whole(folder / "evaluation.json", json.dumps(summary).encode())


def _keep_study(cell: Cell, place: Workplace, evaluator: Evaluator, protocol: Protocol) -> None:
    with progress_bar(f"{cell.name}: sampling study") as progress:
        study = sampling_study(evaluator.runner(protocol), protocol, progress=progress)
    content = {"settings": to_dict(cell.settings)} | study
    write_whole(place.sampling(cell), json.dumps(content).encode())


def _keep_training(cell: Cell, place: Workplace, evaluator: Evaluator, run: RunFolder) -> None:
    """Keep the trace of the training, and the accuracies of single sampled classifiers."""
    samples = None
    # This takes minutes, and no table of ResNet-12 shows prior beside posterior.
    if cell.settings.model.backbone != "resnet12":
        samples = prior_and_posterior(evaluator.runner(cell.protocol), cell.protocol)
    content = {
        "format": 1,
        "name": cell.name,
        "settings": to_dict(cell.settings),
        "seconds": _training_seconds(run),
        "measured": _today(),
        "trace": _trace(run),
        "samples": samples,
    }
    write_whole(place.training(cell), json.dumps(content).encode())


def _today() -> str:
    return time.strftime("%Y-%m-%d")


def _trace(run: RunFolder) -> list[dict[str, Any]]:
    """Return the validations, every 250th update and the last."""
    last = run.settings().updates
    kept = {last, *range(TRACE_EVERY, last, TRACE_EVERY)}
    lines = read_metrics(run.metrics)
    return [line for line in lines if "validation_accuracy" in line or line["update"] in kept]


def _training_seconds(run: RunFolder) -> float:
    """Return the training time by the last throughput.

    After an interruption this is the throughput of the last process.
    """
    throughputs = []
    for line in read_metrics(run.metrics):
        if "images_per_second" in line:
            throughputs.append(line["images_per_second"])
    settings = run.settings()
    return round(settings.updates * settings.images_per_update / throughputs[-1], 1)
