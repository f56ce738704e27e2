"""Print the tables of docs/photos.md from what `benchmarks/photos.py` has measured.

python benchmarks/photos_tables.py results/photos.json
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

OURS = "closed form"
METRICS = {"accuracy": 1, "nll": 3, "brier": 3, "ece_pooled": 3, "ece_per_task": 3}
"""The metrics of a cell and their decimals; accuracy is in percent."""


@dataclass(frozen=True)
class Results:
    """The rows of a results file."""

    rows: list[dict[str, Any]]

    @property
    def methods(self) -> list[str]:
        """The names of the methods, ours first."""
        return list(self.rows[0]["methods"])

    def of_shape(self, way: int, shot: int) -> list[dict[str, Any]]:
        """Return the methods' metrics on each collection."""
        rows = self.rows
        return [row["methods"] for row in rows if (row["way"], row["shot"]) == (way, shot)]

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """All shapes of task, once each."""
        return list(dict.fromkeys((row["way"], row["shot"]) for row in self.rows))

    @property
    def collections(self) -> list[str]:
        """All collections, once each."""
        return list(dict.fromkeys(row["collection"] for row in self.rows))


def mean(rows: list[dict[str, Any]], method: str, metric: str) -> float:
    """Return the mean of a metric over collections."""
    return float(np.mean([row[method][metric] for row in rows]))


def shown(metric: str, value: float) -> str:
    """Return a metric as it is printed."""
    if metric == "accuracy":
        value = 100 * value
    return f"{value:.{METRICS[metric]}f}"


def table_of_means(results: Results, way: int) -> list[str]:
    """Return the table of all methods at one number of ways."""
    shapes = [shape for shape in results.shapes if shape[0] == way]
    titles = [f"{way}-way {shot}-shot" for _, shot in shapes]
    lines = ["| mean over the collections | " + " | ".join(titles) + " |", "|---" * 5 + "|"]
    for method in results.methods:
        name = method
        if method == OURS:
            name = "**closed form** (`photos`)"
        cells = []
        for shape in shapes:
            rows = results.of_shape(*shape)
            metrics = [shown(metric, mean(rows, method, metric)) for metric in METRICS]
            cells.append(" / ".join(metrics))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def table_of_all(results: Results) -> list[str]:
    """Return the means over all shapes, with paired differences of accuracy and NLL."""
    lines = [
        "| mean over collections and shapes | accuracy, % | NLL | Brier | pooled ECE | accuracy of "
        "the closed form less this | NLL of the closed form less this | fit / predict, ms |",
        "|---" * 8 + "|",
    ]
    for method in results.methods:
        rows = [row["methods"] for row in results.rows]
        metrics = [
            shown(metric, mean(rows, method, metric))
            for metric in ("accuracy", "nll", "brier", "ece_pooled")
        ]
        differences = ["", ""]
        if method != OURS:
            differences = [
                paired(rows, method, "accuracy", 100, 2),
                paired(rows, method, "nll", 1, 4),
            ]
        fit = mean(rows, method, "milliseconds_to_fit")
        predict = mean(rows, method, "milliseconds_to_predict")
        cells = [method, *metrics, *differences, f"{fit:.1f} / {predict:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def paired(rows: list[dict[str, Any]], method: str, metric: str, factor: int, digits: int) -> str:
    """Return the mean difference over cells, with 1.96 standard errors over tasks."""
    pairs = [row[method]["closed_form_minus_this"][metric] for row in rows]
    difference = factor * np.mean([pair[0] for pair in pairs])
    error = factor * math.sqrt(sum(pair[1] ** 2 for pair in pairs)) / len(pairs)
    return f"{difference:+.{digits}f} ± {1.96 * error:.{digits}f}"


def table_of_collections(results: Results) -> list[str]:
    """Return accuracy, NLL and ECE of the closed form by collection."""
    shapes = [(5, 1), (5, 5), (20, 5)]
    lines = [
        "| collection | 5-way 1-shot | 5-way 5-shot | 20-way 5-shot | AUROC, 5-way 5-shot |",
        "|---" * 5 + "|",
    ]
    for collection in results.collections:
        cells = [collection]
        rows = {}
        for row in results.rows:
            if row["collection"] == collection:
                rows[row["way"], row["shot"]] = row["methods"]
        for shape in shapes:
            cells.append(cell_of_collection(rows[shape]))
        cells.append(f"{rows[5, 5][OURS]['outside_auroc']:.3f}")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def cell_of_collection(methods: dict[str, Any]) -> str:
    """Return our metrics with the accuracy of the best rival."""
    ours = methods[OURS]
    best = max(methods[name]["accuracy"] for name in methods if name != OURS)
    return (
        f"{100 * ours['accuracy']:.1f} (best rival {100 * best:.1f}) / {ours['nll']:.3f} / "
        f"{ours['ece_pooled']:.3f}"
    )


def behind(results: Results) -> list[str]:
    """Return in how many cells the best rival is ahead by more than 0.3 points of accuracy."""
    cells = []
    for row in results.rows:
        methods = row["methods"]
        best = max((methods[name]["accuracy"], name) for name in methods if name != OURS)
        gap = 100 * (best[0] - methods[OURS]["accuracy"])
        if gap > 0.3:
            cells.append(
                f"{row['collection']} {row['way']}-way {row['shot']}-shot: {gap:.2f} ({best[1]})"
            )
    return [f"{len(cells)} of {len(results.rows)} cells behind by more than 0.3 points:", *cells]


def main(path: Path) -> None:
    """Print all tables.

    Args:
        path: The JSON file of the benchmark.
    """
    results = Results(json.loads(path.read_text())["results"])
    for way in dict.fromkeys(way for way, _ in results.shapes):
        print("\n".join(table_of_means(results, way)), end="\n\n")
    print("\n".join(table_of_all(results)), end="\n\n")
    print("\n".join(table_of_collections(results)), end="\n\n")
    print("\n".join(behind(results)))


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.Positional,))
