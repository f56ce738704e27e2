"""What a finished run leaves: its test figure, training.png, episode.png."""

import json

import torch

from samovar.core.files import write_whole
from samovar.evaluation.task_runner import TaskRunner
from samovar.reporting.figures.episode import draw_task
from samovar.reporting.figures.training import training_figure
from samovar.settings.paper import Published
from samovar.settings.tasks import Protocol
from samovar.training.loop import Run
from samovar.training.run_folder import RunFolder, read_metrics
from samovar.training.setup import store_dataset


def write_report(run: Run, published: Published | None = None) -> None:
    """Pictures and the figure, and where they are."""
    protocol = str(run.settings.validation.protocol(run.settings.seed, test=True))
    dataset = store_dataset(run.settings, "test")
    summary = {
        "format": 1,
        "accuracy": {"mean": run.test.mean, "ci95": run.test.ci95},
        "protocol": protocol,
        "norm": run.settings.model.norm,
        "data": dataset.description,
    }
    write_whole(run.folder / "test.json", json.dumps(summary, indent=1).encode())
    write_whole(
        run.folder / "training.png", training_figure(read_metrics(RunFolder(run.folder).metrics))
    )
    drawn = [f"{run.folder / 'training.png'}"]
    if len(dataset.store.facts["shape"]) == 3:
        write_whole(run.folder / "episode.png", _draw_episode(run))
        drawn.append(f"{run.folder / 'episode.png'}")
    print(
        f"Test accuracy {run.test} ({protocol}, {run.settings.model.norm} norm; {dataset.description})"
    )
    if published is not None:
        print(
            f"Published (table {published.table}): {published.accuracy} ± {published.ci95} %, by the paper's protocol."
        )
    print(f"Model: {RunFolder(run.folder).model}")
    print(f"Pictures: {', '.join(drawn)}")


def _draw_episode(run: Run) -> bytes:
    v = run.settings.validation
    run.model.model.cpu()
    evaluator = TaskRunner(
        run.model.model,
        store_dataset(run.settings, "test"),
        run.model.normalisation,
        torch.device("cpu"),
    )
    return draw_task(
        evaluator, Protocol(v.way, v.shot, v.queries, samples=1000, seed=run.settings.seed + 1), 0
    )
