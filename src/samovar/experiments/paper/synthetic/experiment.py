"""`samovar reproduce synthetic`: the study of section 4.1, computed on the spot."""

from dataclasses import replace
from typing import Any

from samovar.experiments.cell import Cell, Scale
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.markdown import joined, table_head, table_row
from samovar.experiments.paper.synthetic.study import synthetic_study
from samovar.reporting.figures.synthetic import synthetic_figure
from samovar.reporting.progress_bar import progress_bar
from samovar.settings.synthetic import SyntheticSettings


def cells(_scale: Scale) -> list[Cell]:
    """Return no cells: nothing is trained in run folders."""
    return []


def table(measurements: Measurements) -> ResultTable:
    """Run the study and return the ratios of variances."""
    with progress_bar("synthetic study") as progress:
        result = synthetic_study(replace(SyntheticSettings(), seed=measurements.seed), progress)
    return ResultTable(result, _markdown(result))


def _markdown(result: dict[str, Any]) -> str:
    lines = [
        "# synthetic",
        "",
        "Variance that the network predicts, divided by that of the true posterior: "
        "mean ± standard deviation over seeds. 1 is right.",
        "",
    ]
    lines += table_head(["training", "L", "sigma_y", "ratio"])
    for row in result["results"]:
        ratio = row["variance_ratio"]
        samples = ""
        if row["samples"] is not None:
            samples = str(row["samples"])
        value = f"{ratio['mean']:.3f} ± {ratio['std']:.3f}"
        lines.append(table_row([row["method"], samples, str(row["sigma_y"]), value]))
    return joined(lines)


EXPERIMENT = Experiment(
    name="synthetic",
    cells=cells,
    table=table,
    figure=synthetic_figure,
    plan_note=(
        "The synthetic study trains its small networks in this process: "
        "about 3 minutes on two cores."
    ),
)
