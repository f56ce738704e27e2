"""`samovar compare A B`."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from samovar.evaluation.predictors import Predictor

PredictorFlag = Annotated[Predictor, tyro.conf.EnumChoicesFromValues]


@dataclass(frozen=True)
class ComparisonFlags:
    """More training seeds of the two methods, and how each of them predicts."""

    also_first: tuple[Path, ...] = ()
    """More training seeds of the first method."""
    also_second: tuple[Path, ...] = ()
    """More training seeds of the second method."""
    first_by: PredictorFlag = Predictor.PREDICTIVE
    """The predictor of the first: samples averaged, at the mean, or either with a temperature; or
    a rival that was measured beside it (`samovar evaluate --rivals`)."""
    second_by: PredictorFlag = Predictor.PREDICTIVE
    """The predictor of the second."""


def compare(
    first: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FIRST")],
    second: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="SECOND")],
    *,
    methods: Annotated[ComparisonFlags, tyro.conf.arg(name="")],
    seed: int = 0,
    out: Path = Path("runs/comparison"),
) -> None:
    """Measure the difference between two models on the same tasks, with its 95 % interval.

    Both need an evaluation under the same protocol (`samovar evaluate`). The paired interval holds
    for these two models and for tasks from these classes. A statement about methods needs several
    training seeds of each: give them with --also-first and --also-second, and the difference over
    seeds is shown too. To compare two predictors of one model, give it twice and choose them with
    --first-by and --second-by; rivals are compared with the model in the same way. Writes
    comparison.json.

    Args:
        first: A run, model or evaluation folder.
        second: The folder to compare it with; it may be the same one.
        methods: The compared methods.
        seed: Seed of the bootstrap for the interval of the calibration error.
        out: Folder for comparison.json.
    """
    from rich.console import Console

    from samovar.core.files import output_folder, write_whole
    from samovar.evaluation.comparison import compare
    from samovar.reporting.evaluation_tables import comparison_table

    comparison = compare(
        [first, *methods.also_first],
        [second, *methods.also_second],
        first_by=methods.first_by,
        second_by=methods.second_by,
        seed=seed,
    )
    Console().print(comparison_table(comparison))
    content = json.dumps(comparison.to_json(), indent=1).encode()
    write_whole(output_folder(out) / "comparison.json", content)
    print(f"Written: {out / 'comparison.json'}")
