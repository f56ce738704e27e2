"""`samovar synthetic`."""

import json
from pathlib import Path
from typing import Annotated

import tyro

from samovar.settings.synthetic import SyntheticSettings


def synthetic(
    settings: Annotated[SyntheticSettings, tyro.conf.arg(name="")],
    *,
    out: Path = Path("runs/synthetic"),
    quick: bool = False,
) -> None:
    """Run the paper's synthetic study: which training loss keeps the variance of the posterior?

    Trains small inference networks with the exact, the Monte Carlo (VERSA) and the variational
    (SAMOVAR) loss, and compares the variance that they predict with that of the true posterior,
    which is known here (section 4.1 of the paper). Writes synthetic.json and synthetic.png.

    Args:
        settings: The study.
        out: The folder for synthetic.json and synthetic.png.
        quick: Use at most 30 seeds (5 for Monte Carlo) and 500 updates: a first look in under half
            a minute.
    """
    from rich.console import Console

    from samovar.core.files import output_folder, write_whole
    from samovar.experiments.paper.synthetic.study import synthetic_study
    from samovar.reporting.figures.synthetic import synthetic_figure
    from samovar.reporting.progress_bar import progress_bar
    from samovar.reporting.tables import synthetic_table

    if quick:
        settings = settings.quick()
    output_folder(out)  # fails now rather than after minutes of work
    with progress_bar("synthetic study") as progress:
        result = synthetic_study(settings, progress)
    Console().print(synthetic_table(result))
    write_whole(out / "synthetic.json", json.dumps(result, indent=1).encode())
    write_whole(out / "synthetic.png", synthetic_figure(result))
    print(f"Written: {out / 'synthetic.json'} and {out / 'synthetic.png'}")
