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
    out: Path | None = None,
) -> None:
    """The difference between two models on the same tasks, with its 95 % interval.

    Both need an evaluation by the same protocol (`samovar evaluate`). Two ways of predicting of one model are compared
    with --first-by and --second-by. The paired interval is about these two models and tasks from these classes; a
    statement about methods needs several training seeds of each, given with --also-first and --also-second: then the
    spread over seeds is shown beside it. Writes comparison.json if --out is given.

    Args:
        first: A run, model or evaluation folder.
        second: Another, or the same.
        also_first: More training seeds of the first method.
        also_second: More training seeds of the second method.
        first_by: How the first predicts.
        second_by: How the second predicts.
        out: Folder for comparison.json.
    """
    from rich.console import Console

    from samovar.comparison import Measured, compare
    from samovar.files import output_folder, write_whole
    from samovar.report import comparison_table

    groups = [
        [Measured.read(path, by) for path in (head, *more)]
        for head, more, by in ((first, also_first, first_by), (second, also_second, second_by))
    ]
    comparison = compare(*groups) | {"first_by": first_by, "second_by": second_by}
    Console().print(comparison_table(comparison))
    if out is not None:
        write_whole(output_folder(out) / "comparison.json", json.dumps(comparison, indent=1).encode())
        print(f"Written: {out / 'comparison.json'}")
