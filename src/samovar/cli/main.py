"""The command line: all commands, and what an error looks like there.

To add a command, write `cli/NAME.py` with a function and add the function to `SAMOVAR` below.
Commands import what is heavy when they run, so that `samovar --help` answers at once.
"""

import os
import sys

import samovar
from samovar.cli.command import Command, from_function, group
from samovar.cli.compare import compare
from samovar.cli.completion import completion_command
from samovar.cli.data import DATA
from samovar.cli.embed import embed
from samovar.cli.evaluate import evaluate
from samovar.cli.fit import fit
from samovar.cli.predict import predict
from samovar.cli.presets import presets
from samovar.cli.reproduce import reproduce
from samovar.cli.score import score
from samovar.cli.synthetic import synthetic
from samovar.cli.task import task
from samovar.cli.train import TrainCommand, run_train
from samovar.core.allocator import tune_allocator
from samovar.errors import SamovarError

DESCRIPTION = """Bayesian few-shot image classification.

Every command explains itself with --help. Results are printed for people and written as JSON.
samovar --version prints the version.
Add --debug to any command to see the full traceback of an error."""

TRAIN = "Train a model: samovar train PRESET (default glyphs). The same command resumes a run."

COMMANDS = (
    from_function("samovar fit", fit),
    from_function("samovar predict", predict),
    from_function("samovar score", score),
    from_function("samovar task", task),
    # The flags of `train` depend on the preset that is named first, so it parses them itself.
    Command("samovar train", TRAIN, run_train, TrainCommand),
    from_function("samovar embed", embed),
    from_function("samovar evaluate", evaluate),
    from_function("samovar compare", compare),
    from_function("samovar reproduce", reproduce),
    from_function("samovar presets", presets),
    DATA,
    from_function("samovar synthetic", synthetic),
)
SAMOVAR = group("samovar", DESCRIPTION, (*COMMANDS, completion_command(COMMANDS)))


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return the exit code.

    0 means success, 1 that some of the input had to be skipped, 2 bad input or a file that cannot
    be read or written, 130 that the user interrupted. With --debug errors are raised instead of
    explained.
    """
    if arguments is None:
        arguments = sys.argv[1:]
    if arguments == ["--version"]:
        print(f"samovar {samovar.__version__}")
        return 0
    debug = "--debug" in arguments
    tune_allocator()
    try:
        code = SAMOVAR.run([argument for argument in arguments if argument != "--debug"])
        # Python flushes when it exits too, but here a reader that has gone away is no error.
        sys.stdout.flush()
        return code or 0
    except BrokenPipeError:
        # The reader of our output has gone, as in `samovar presets | head -1`. Python flushes once
        # more at exit and would fail again, so what is left goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (SamovarError, OSError, KeyboardInterrupt) as error:
        if debug:
            raise
        return _explain(error)


def _explain(error: BaseException) -> int:
    """Print one sentence about an error and return the exit code."""
    if isinstance(error, KeyboardInterrupt):
        print(
            "samovar: interrupted. Run the same command again to continue; "
            "training resumes from its last checkpoint.",
            file=sys.stderr,
        )
        return 130
    # Besides our own errors these are the operating system's, such as a path that is too long.
    print(f"samovar: {error}", file=sys.stderr)
    return 2
