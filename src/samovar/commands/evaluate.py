"""`samovar evaluate RUN_OR_MODEL`."""

import json
from pathlib import Path
from typing import Annotated, Literal

import tyro

from samovar.config import Protocol


def evaluate(
    model: Annotated[Path, tyro.conf.Positional],
    protocol: Annotated[Protocol, tyro.conf.arg(name="")],
    *,
    named: Literal["paper", "tadam", "versa"] | None = None,
    data: str | None = None,
    device: str = "cpu",
    out: Path | None = None,
) -> None:
    """Measure a model: accuracy, NLL, Brier score and calibration error, with 95 % intervals.

    The same figures are given for the classifier at the mean of the predicted weights, so that one sees what averaging
    over classifiers buys. Writes evaluation.json, and evaluation.npz with the figures of each task.

    Args:
        model: A run folder or a model folder.
        protocol: How to measure.
        named: The protocol of a paper instead of the flags: paper (5000 tasks x 15 per class), tadam (100 queries in
            all) or versa (600 tasks, as many queries as shots); --shot, --split, --seed and --norm still count.
        data: A prepared data set; the one that the model was trained on if not given.
        device: cpu, cuda or mps.
        out: Folder for the results; beside the model if not given.
    """
    import dataclasses

    from rich.console import Console

    from samovar.config import named_protocol
    from samovar.data.dataset import Dataset
    from samovar.data.prepare import ready
    from samovar.evaluation import evaluate as run
    from samovar.files import output_folder, write_whole
    from samovar.model_folder import load_model
    from samovar.report import evaluation_table, progress_bar

    if named is not None:
        kept = {name: getattr(protocol, name) for name in ("split", "seed", "norm")}
        protocol = dataclasses.replace(named_protocol(named, protocol.shot), **kept)
    folder = model / "model" if (model / "model" / "config.json").exists() else model
    saved = load_model(folder)
    target = output_folder(out or folder.parent / "evaluation")
    dataset = Dataset(ready(data), protocol.split) if data is not None else None
    with progress_bar("evaluating") as progress:
        evaluation = run(saved, protocol, dataset, device, progress)
    Console().print(evaluation_table(evaluation.summary))
    write_whole(target / "evaluation.npz", evaluation.tasks_file())
    write_whole(target / "evaluation.json", json.dumps(evaluation.summary, indent=1).encode())
    print(f"Written: {target / 'evaluation.json'} and {target / 'evaluation.npz'}")
