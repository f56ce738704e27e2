"""What a finished run leaves in its folder: test.json, training.png and episode.png."""

import json
from dataclasses import replace

from samovar.core.files import write_whole
from samovar.core.text import printable
from samovar.reporting.figures.episode import draw_task
from samovar.reporting.figures.training import training_figure
from samovar.settings.paper import Published
from samovar.training.run import Run
from samovar.training.run_folder import RunFolder
from samovar.training.stored_metrics import read_metrics


def write_report(run: Run, published: Published | None = None) -> None:
    """Write the test result and the pictures, and print the result and where the files are."""
    protocol = run.settings.validation.protocol(run.settings.seed, test=True)
    norm = run.settings.model.norm
    data = run.test_runner.dataset.description
    summary = {
        "format": 1,
        "accuracy": {"mean": run.test.mean, "ci95": run.test.ci95},
        "protocol": str(protocol),
        "norm": norm,
        "data": data,
    }
    write_whole(run.folder / "test.json", json.dumps(summary, indent=1).encode())
    pictures = _draw(run)
    for name, content in pictures.items():
        write_whole(run.folder / name, content)
    print(f"Test accuracy {run.test} ({protocol}, {norm} norm; {printable(data)})")
    if published is not None:
        print(
            f"Published (table {published.table}): {published.accuracy} ± {published.ci95} %, "
            "under the paper's protocol."
        )
    print(f"Model: {RunFolder(run.folder).model}")
    paths = ", ".join(str(run.folder / name) for name in pictures)
    print(f"Pictures: {paths}")


def _draw(run: Run) -> dict[str, bytes]:
    """Return the course of the training and, for images, a task with the model's predictions."""
    metrics = read_metrics(RunFolder(run.folder).metrics)
    pictures = {"training.png": training_figure(metrics)}
    if len(run.test_runner.dataset.store.facts["shape"]) == 3:
        # With another seed the task is not one of those that were measured. More samples than in
        # the test make smooth whiskers of a single task at no cost.
        seed = run.settings.seed + 1
        protocol = run.settings.validation.protocol(seed, test=True)
        protocol = replace(protocol, samples=1000)
        pictures["episode.png"] = draw_task(run.test_runner, protocol, 0)
    return pictures
