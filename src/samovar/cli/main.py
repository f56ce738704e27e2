"""The command line: finds the command, and turns errors into a sentence and an exit code."""

import os
import sys
from collections.abc import Callable, Mapping

import tyro

from samovar.cli.compare import compare
from samovar.cli.data import DATA_COMMANDS, data
from samovar.cli.evaluate import evaluate
from samovar.cli.fit import fit
from samovar.cli.predict import predict
from samovar.cli.presets import presets
from samovar.cli.reproduce import reproduce
from samovar.cli.synthetic import synthetic
from samovar.cli.task import task
from samovar.cli.train import run_train, train
from samovar.core.allocator import tune_allocator
from samovar.errors import SamovarError

DESCRIPTION = """Bayesian few-shot image classification.

Every command explains itself with --help. Results are printed for people and written as JSON.
Add --debug to any command to see the full traceback of an error."""

COMMANDS: dict[str, Callable[..., int | None]] = {
    "fit": fit,
    "predict": predict,
    "task": task,
    "train": train,
    "evaluate": evaluate,
    "compare": compare,
    "reproduce": reproduce,
    "presets": presets,
    "data": data,
    "synthetic": synthetic,
}
GROUPS: dict[str, Mapping[str, Callable[..., int | None]]] = {"data": DATA_COMMANDS}
"""Commands that have commands of their own."""


def _run(arguments: list[str]) -> int | None:
    commands: Mapping[str, Callable[..., int | None]] = COMMANDS
    program, description = "samovar", DESCRIPTION
    if arguments[:1] == ["train"]:  # its flags depend on the preset
        run_train(arguments[1:])
        return 0
    if arguments and arguments[0] in GROUPS:
        program, commands, description = (
            f"samovar {arguments[0]}",
            GROUPS[arguments[0]],
            COMMANDS[arguments[0]].__doc__ or "",
        )
        arguments = arguments[1:]
    return tyro.extras.subcommand_cli_from_dict(
        dict(commands), prog=program, description=description, args=arguments or ["--help"]
    )


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code: 0, 1 for work done in part, 2 for bad input, 130 when interrupted."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in arguments
    tune_allocator()
    try:
        code = _run([argument for argument in arguments if argument != "--debug"]) or 0
        sys.stdout.flush()  # here, where a reader that has gone is no error
        return code
    except SamovarError as error:
        if debug:
            raise
        print(f"samovar: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        if debug:
            raise
        print("samovar: interrupted. The same command goes on where it can.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a path that is too long, or that is not ours to read
        if debug:
            raise
        print(f"samovar: {error}", file=sys.stderr)
        return 2
