"""`samovar compare A B`."""

import json
from pathlib import Path
from typing import Annotated, Literal

import tyro

Way = Literal["predictive", "mean_classifier", "predictive_tempered", "mean_classifier_tempered"]


def compare(
    first: Annotated[Path, tyro.conf.Positional],
    second: Annotated[Path, tyro.conf.Positional],
    *,
    also_first: tuple[Path, ...] = (),
    also_second: tuple[Path, ...] = (),
    first_by: Way = "predictive",
    second_by: Way = "predictive",
    seed: int = 0,
    out: Path = Path("runs/comparison"),
) -> None:
    """The difference between two models on the same tasks, with its 95 % interval.

    Both need an evaluation by the same protocol (`samovar evaluate`). Two ways of predicting of one model are compared
    with --first-by and --second-by. The paired interval is about these two models and tasks from these classes; a
    statement about methods needs several training seeds of each, given with --also-first and --also-second: then the
    spread over seeds is shown beside it. Writes comparison.json.

    Args:
        first: A run, model or evaluation folder.
        second: Another, or the same.
        also_first: More training seeds of the first method.
        also_second: More training seeds of the second method.
        first_by: How the first predicts.
        second_by: How the second predicts.
        seed: Of the bootstrap, for the interval of the calibration error.
        out: Folder for comparison.json.
    """
    from rich.console import Console

    from samovar.core.files import output_folder, write_whole
    from samovar.evaluation.comparison import StoredEvaluation, compare
    from samovar.reporting.tables import comparison_table

    ours = [StoredEvaluation.read(path, first_by) for path in (first, *also_first)]
    others = [StoredEvaluation.read(path, second_by) for path in (second, *also_second)]
    comparison = compare(ours, others, seed=seed) | {"first_by": first_by, "second_by": second_by}
    Console().print(comparison_table(comparison))
    write_whole(output_folder(out) / "comparison.json", json.dumps(comparison, indent=1).encode())
    print(f"Written: {out / 'comparison.json'}")
