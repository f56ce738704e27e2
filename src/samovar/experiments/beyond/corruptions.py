"""Noise and blur on support and queries alike: what accuracy and probabilities are worth then.

As Snell and Zemel (ICLR 2021) do, with the severities of CIFAR-10-C, on the shipped model
`cifar_fs`, beside simple rivals on its features. Nobody is told of the corruption: the model is the
shipped one, and the temperatures of the rivals are fitted on clean validation tasks.
"""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from samovar.artifacts.locate import locate_model
from samovar.artifacts.saved_model import SavedModel, load_network
from samovar.core.progress import Progress, silent
from samovar.data.corruption import KINDS, SEVERITIES, CorruptedDataset, Corruption, Kind
from samovar.data.dataset import Dataset
from samovar.evaluation.differences import PairedDifferences
from samovar.evaluation.evaluator import Evaluator, training_dataset
from samovar.evaluation.metrics import Estimate, TaskMetrics, with_interval
from samovar.evaluation.outcomes import Outcomes
from samovar.evaluation.predictors import RIVALS, Predictor
from samovar.evaluation.results import Metrics
from samovar.experiments.cell import Cell, Scale
from samovar.experiments.experiment import Experiment, Measurements, ResultTable
from samovar.experiments.figures import Rows
from samovar.experiments.markdown import grid, joined
from samovar.reporting.figures.evaluation import COLORS
from samovar.reporting.figures.style import png
from samovar.reporting.progress_bar import progress_bar
from samovar.settings.tasks import Protocol

MODEL = "cifar_fs"
SHOWN = (Predictor.PREDICTIVE, *(rival.tempered for rival in RIVALS))
"""What the table and the picture show; the JSON file has all predictors."""
METRICS = {
    "accuracy": "accuracy, %",
    "brier": "Brier score",
    "gap": "gap, points (+ too sure)",
}


def cells(_scale: Scale) -> list[Cell]:
    """Return no cells: the model is a shipped one, and nothing is trained."""
    return []


def table(measurements: Measurements) -> ResultTable:
    """Measure the shipped model and its rivals at every severity of every corruption."""
    protocol = Protocol(shot=5, episodes=1000, samples=256, quasi=True, seed=measurements.seed)
    saved = load_network(locate_model(MODEL))
    with progress_bar("corruptions") as progress:
        clean = training_dataset(saved, protocol.split, progress)
        data = measure_corruptions(saved, clean, protocol, progress)
    return ResultTable(data, corruption_table(data))


def measure_corruptions(
    saved: SavedModel, clean: Dataset, protocol: Protocol, progress: Progress = silent
) -> dict[str, Any]:
    """Measure a model and its rivals on clean data, then under every corruption of it."""
    fitted = Evaluator(saved, clean).fitted_rivals(protocol)
    results: Rows = []
    conditions = list(_conditions(clean, protocol.seed))
    for number, (kind, severity, dataset) in enumerate(conditions):
        # A new evaluator each time: features of a split take memory.
        runner = Evaluator(saved, dataset).runner(protocol)
        outcomes = runner.outcomes(protocol, rivals=fitted)
        for row in _rows(outcomes, protocol.seed):
            results.append({"corruption": kind, "severity": severity} | row)
        progress("corruptions", (number + 1) / len(conditions))
    return {
        "format": 1,
        "name": "corruptions",
        "scale": "cpu",
        "model": MODEL,
        "protocol": asdict(protocol) | {"text": str(protocol)},
        "temperatures": fitted.note,
        "results": results,
    }


def _conditions(clean: Dataset, seed: int) -> Iterator[tuple[Kind | None, int, Dataset]]:
    """Yield the clean data, then every corruption of it by rising severity."""
    yield None, 0, clean
    for kind in KINDS:
        for severity in SEVERITIES:
            yield kind, severity, CorruptedDataset(clean, Corruption(kind, severity, seed))


def _rows(outcomes: dict[str, Outcomes], seed: int) -> Rows:
    """Return the metrics of each predictor, and what the predictive gains over it."""
    tasks = {Predictor(name): TaskMetrics.of(outcomes[name]) for name in outcomes}
    rows = []
    for predictor, of_tasks in tasks.items():
        metrics = Metrics.of(outcomes[predictor], of_tasks, seed)
        difference = PairedDifferences.of(tasks[Predictor.PREDICTIVE], of_tasks, seed)
        rows.append(
            {
                "predictor": predictor.value,
                "accuracy": metrics.accuracy.to_json(),
                "nll": metrics.nll.to_json(),
                "brier": metrics.brier.to_json(),
                "ece": metrics.ece.to_json(),
                "gap": metrics.gap.to_json(),
                "ece_per_task": metrics.ece_per_task.to_json(),
                "model_minus_this": asdict(difference),
            }
        )
    return rows


def _of(results: Rows, kind: Kind, predictor: Predictor) -> Rows:
    """Return the rows of one corruption and one predictor by severity, the clean one first."""
    rows = []
    for row in results:
        if row["corruption"] in (None, kind) and row["predictor"] == predictor:
            rows.append(row)
    return rows


def corruption_table(data: dict[str, Any]) -> str:
    """Return the table of what was measured, in Markdown."""
    lines = [
        "# corruptions",
        "",
        f"The shipped model `{MODEL}` and simple rivals on its features, with noise or blur on "
        f"support and queries: {data['protocol']['text']}. Severities are those of CIFAR-10-C; 0 "
        "is clean. Nobody is told of the corruption; temperatures of the rivals: "
        f"{data['temperatures']}. Accuracy in percent / Brier score / gap (mean top probability "
        "minus accuracy, in points: + is too sure, - too modest).",
    ]
    columns = [f"severity {severity}" for severity in (0, *SEVERITIES)]
    for kind in KINDS:
        texts = {}
        for predictor in SHOWN:
            for row in _of(data["results"], kind, predictor):
                texts[_label(predictor), f"severity {row['severity']}"] = _text(row)
        lines += ["", f"## {kind.replace('_', ' ')}", ""]
        lines += grid([_label(predictor) for predictor in SHOWN], columns, texts)
    return joined(lines)


def _label(predictor: Predictor) -> str:
    if predictor == Predictor.PREDICTIVE:
        return "SAMOVAR, sampled"
    return predictor.label


def _text(row: dict[str, Any]) -> str:
    accuracy = Estimate(**row["accuracy"])
    gap = 100 * row["gap"]["mean"]
    mean = with_interval(f"{100 * accuracy.mean:.1f}", accuracy.ci95, 100, digits=1)
    return f"{mean} / {row['brier']['mean']:.3f} / {gap:+.1f}"


def figure(data: dict[str, Any]) -> bytes:
    """Draw accuracy, Brier score and gap over the severity, a column for each corruption."""
    picture = Figure(figsize=(11, 8), layout="constrained")
    panels = picture.subplots(len(METRICS), len(KINDS), sharex=True, sharey="row")
    for column, kind in enumerate(KINDS):
        panels[0, column].set_title(kind.replace("_", " "))
        panels[-1, column].set_xlabel("severity (0 is clean)")
        for row, metric in enumerate(METRICS):
            _draw(panels[row, column], data["results"], kind, metric)
    for row, label in enumerate(METRICS.values()):
        panels[row, 0].set_ylabel(label)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    picture.suptitle(f"Noise and blur on support and queries ({data['model']}, 5-way 5-shot)")
    return png(picture)


def _draw(panel: Axes, results: Rows, kind: Kind, metric: str) -> None:
    if metric == "gap":
        panel.axhline(0, color="0.7", linewidth=1)
    # The Brier score is drawn as it is, accuracy and gap in percent.
    unit = 1 if metric == "brier" else 100
    for predictor in SHOWN:
        rows = _of(results, kind, predictor)
        panel.errorbar(
            [row["severity"] for row in rows],
            [unit * row[metric]["mean"] for row in rows],
            [unit * row[metric]["ci95"] for row in rows],
            color=COLORS[predictor],
            marker="o",
            markersize=3,
            capsize=2,
            label=_label(predictor),
        )


EXPERIMENT = Experiment(
    name="corruptions",
    cells=cells,
    table=table,
    figure=figure,
    beyond_paper=True,
    plan_note=(
        "The corruptions are measured on the shipped model cifar_fs, without any training: "
        "about 5 minutes on one core."
    ),
)
