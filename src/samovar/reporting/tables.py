"""The table of the synthetic study for the terminal."""

from typing import Any

from rich.table import Table

METHODS = {"exact": "exact", "variational": "variational", "monte_carlo": "Monte Carlo"}
"""The methods as synthetic.json names them, and as the table does."""


def synthetic_table(result: dict[str, Any]) -> Table:
    """Return the variance ratios of the synthetic study: mean and std over the seeds.

    There is a row for each method and number of samples L, and a column for each sigma_y. `result`
    is what synthetic.json holds.
    """
    table = Table(
        title="Variance of the network / of the true posterior (1 is right; ± std over seeds)"
    )
    table.add_column("training")
    table.add_column("L", justify="right")
    for sigma_y in result["settings"]["sigma_y"]:
        table.add_column(f"sigma_y = {sigma_y:g}", justify="right")
    first_samples = result["settings"]["samples"][0]
    for (method, samples), cells in _variance_ratios(result).items():
        # A line before each method: the exact loss has no L, the others begin with the smallest.
        if samples in (None, first_samples):
            table.add_section()
        table.add_row(METHODS[method], str(samples or ""), *cells)
    limits = [f"{row['zero_variance_limit']:.4g}" for row in result["theory"]]
    table.add_section()
    table.add_row("Monte Carlo prefers 0 up to", "L*", *limits)
    return table


def _variance_ratios(result: dict[str, Any]) -> dict[tuple[str, int | None], list[str]]:
    """Return the cells of each (method, L), in the order of sigma_y."""
    cells: dict[tuple[str, int | None], list[str]] = {}
    for row in result["results"]:
        ratio = row["variance_ratio"]
        text = f"{ratio['mean']:.3f} ± {ratio['std']:.3f}"
        cells.setdefault((row["method"], row["samples"]), []).append(text)
    return cells
