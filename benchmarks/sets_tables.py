"""Print the tables of docs/sets.md from what benchmarks/sets.py has measured.

python benchmarks/sets_tables.py results/sets.json
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

METHODS = (
    "full conformal",
    "full conformal per class",
    "split conformal",
    "plain leave-one-out quantile",
    "transferred",
)


@dataclass(frozen=True)
class Arguments:
    """What to print."""

    results: tyro.conf.Positional[Path]


def cell(rows: list[dict[str, Any]]) -> str:
    """Return the mean coverage in percent (that of the lowest collection) / the mean size."""
    if not rows:
        return ""
    coverage = 100 * np.mean([row["coverage"] for row in rows])
    lowest = 100 * min(row["coverage"] for row in rows)
    size = np.mean([row["size"] for row in rows])
    return f"{coverage:.1f} ({lowest:.1f}) / {size:.2f}"


def misses(rows: list[dict[str, Any]], method: str) -> str:
    """Count the cells that are below the asked level by more than their interval over tasks."""
    own = [row for row in rows if row["method"] == method]
    below = 0
    for row in own:
        below += row["confidence"] - row["coverage"] > row["coverage_ci95"]
    return f"{method}: below in {below} of {len(own)} cells"


def main() -> None:
    """Print a table for each confidence, and how many cells are below it."""
    path = tyro.cli(Arguments, description=__doc__).results
    rows = json.loads(path.read_text())["results"]
    shapes = sorted({(row["way"], row["shot"]) for row in rows})
    for confidence in sorted({row["confidence"] for row in rows}):
        print(f"\n| {100 * confidence:g} % asked | {' | '.join(METHODS)} |")
        print("|---" * (len(METHODS) + 1) + "|")
        for way, shot in shapes:
            cells = []
            for method in METHODS:
                wanted = (way, shot, confidence, method)
                found = []
                for row in rows:
                    if (row["way"], row["shot"], row["confidence"], row["method"]) == wanted:
                        found.append(row)
                cells.append(cell(found))
            print(f"| {way}-way {shot}-shot | {' | '.join(cells)} |")
    print()
    for method in METHODS:
        print(misses(rows, method))
    different = {(row["collection"], row["way"], row["shot"]): row["different"] for row in rows}
    print(f"sets that differ from MAPIE's: {sum(different.values())}")


if __name__ == "__main__":
    main()
