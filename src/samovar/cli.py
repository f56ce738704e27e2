"""The command line. Heavy imports happen inside the commands, so that `--help` answers at once."""

import json
import sys
from pathlib import Path
from typing import Annotated

import tyro

from samovar.config import SyntheticSettings
from samovar.errors import SamovarError

DESCRIPTION = """Bayesian few-shot image classification.

Every command explains itself with --help. Results are printed for people and written as JSON.
Add --debug to any command to see the full traceback of an error."""


def synthetic(
    settings: Annotated[SyntheticSettings, tyro.conf.arg(name="")],
    *,
    out: Path = Path("runs/synthetic"),
    quick: bool = False,
) -> None:
    """Does training keep the variance? Section 4.1, where the truth is known.

    Trains small inference networks by the exact, the Monte Carlo (VERSA) and the variational (SAMOVAR) loss, and
    compares the variance that they predict with that of the true posterior.
    Writes synthetic.json and synthetic.png.

    Args:
        settings: the study.
        out: Folder for synthetic.json and synthetic.png.
        quick: At most 30 seeds (5 for Monte Carlo) and 500 updates: a look in about 20 seconds.
    """
    from rich.console import Console

    from samovar.experiments.synthetic import synthetic_study
    from samovar.files import output_folder, write_whole
    from samovar.plots import synthetic_figure
    from samovar.report import progress_bar, synthetic_table

    output_folder(out)
    with progress_bar("synthetic study") as progress:
        result = synthetic_study(settings.quick() if quick else settings, progress)
    Console().print(synthetic_table(result))
    write_whole(out / "synthetic.json", json.dumps(result, indent=1).encode())
    write_whole(out / "synthetic.png", synthetic_figure(result))
    print(f"Written: {out / 'synthetic.json'} and {out / 'synthetic.png'}")


COMMANDS = {"synthetic": synthetic}


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code: 0, 2 for bad input, 130 when interrupted."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        tyro.extras.subcommand_cli_from_dict(
            COMMANDS, prog="samovar", description=DESCRIPTION, args=arguments or ["--help"]
        )
    except SamovarError as error:
        if debug:
            raise
        print(f"samovar: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        if debug:
            raise
        print("samovar: interrupted.", file=sys.stderr)
        return 130
    return 0
