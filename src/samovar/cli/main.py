"""The command line: all commands, and what an error looks like there.

To add a command, write `cli/NAME.py` with a function and add the function to `SAMOVAR` below.
Commands import what is heavy when they run, so that `samovar --help` answers at once.
"""

import errno
import sys

import samovar
from samovar.cli.calibrate import calibrate
from samovar.cli.check import check
from samovar.cli.command import Command, from_function, group
from samovar.cli.compare import compare
from samovar.cli.completion import completion_command
from samovar.cli.data import DATA
from samovar.cli.embed import embed
from samovar.cli.evaluate import evaluate
from samovar.cli.export import export
from samovar.cli.fit import fit
from samovar.cli.next import next_images
from samovar.cli.predict import predict
from samovar.cli.presets import presets
from samovar.cli.reproduce import reproduce
from samovar.cli.score import score
from samovar.cli.serve import serve
from samovar.cli.sort import sort
from samovar.cli.streams import discard_output, prepare_streams
from samovar.cli.synthetic import synthetic
from samovar.cli.task import task
from samovar.cli.train import TrainCommand, run_train
from samovar.core.allocator import tune_allocator
from samovar.core.interrupts import Stopped
from samovar.core.text import message
from samovar.core.threads import let_threads_sleep
from samovar.errors import SamovarError

INTERRUPTED = 130
"""The exit code after Ctrl-C."""

DESCRIPTION = """Bayesian few-shot image classification.

Every command explains itself with --help. Results are printed for people and written as JSON.
samovar --version prints the version.
Add --debug to any command to see the full traceback of an error."""

NO_MEMORY = (
    "There is not enough memory for this. Close other programs, or ask for less: fewer or smaller "
    "images, fewer tasks, samples or classes."
)
ALLOCATION_FAILED = (
    "can't allocate memory",
    "not enough memory",
    "out of memory",
    "bad allocation",
    "bad_alloc",
    "Failed to allocate memory",
    "Storage size calculation overflowed",
)
"""How torch and onnxruntime say that there is not enough memory."""

TRAIN = "Train a model: samovar train PRESET (default glyphs). The same command resumes a run."

SHORT = (
    "fit",
    "predict",
    "score",
    "calibrate",
    "check",
    "next",
    "sort",
    "export",
    "embed",
    "serve",
)
"""Commands that people wait for, often on a machine that does other things as well."""
CONTINUES = {
    "train": "The same command resumes the run from its last checkpoint.",
    "sort": "The same command finishes its work, and --undo takes it back.",
    "embed": "The same command continues where it stopped.",
    "reproduce": "The same command continues: finished runs are kept, others are resumed.",
}
"""What to say of the commands that can go on with their work after an interruption."""

COMMANDS = (
    from_function("samovar fit", fit),
    from_function("samovar predict", predict),
    from_function("samovar score", score),
    from_function("samovar calibrate", calibrate),
    from_function("samovar check", check),
    from_function("samovar next", next_images),
    from_function("samovar sort", sort),
    from_function("samovar export", export),
    from_function("samovar task", task),
    from_function("samovar serve", serve),
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

    0 means success, 1 that some of the input had to be skipped or that there is not enough memory,
    2 bad input or a file that cannot be read or written, 130 that the user interrupted (143 by
    SIGTERM). With --debug errors are raised instead of explained.
    """
    if arguments is None:
        arguments = sys.argv[1:]
    if arguments == ["--version"]:
        print(f"samovar {samovar.__version__}")
        return 0
    debug = "--debug" in arguments
    prepare_streams()
    tune_allocator()
    if arguments and arguments[0] in SHORT:
        let_threads_sleep()
    try:
        code = SAMOVAR.run([argument for argument in arguments if argument != "--debug"])
        # Python flushes when it exits too, but here a reader that has gone away is no error.
        sys.stdout.flush()
        return code or 0
    except BrokenPipeError:
        # The reader of our output has gone, as in `samovar presets | head -1`.
        discard_output()
        return 0
    except (SamovarError, OSError, KeyboardInterrupt, MemoryError, RuntimeError) as error:
        # torch raises a RuntimeError without memory; any other one is a mistake of ours.
        ours = isinstance(error, RuntimeError) and not _lacks_memory(error)
        if debug or ours:
            raise
        return _explain(error, arguments)


def _explain(error: BaseException, arguments: list[str]) -> int:
    """Print one sentence about an error and return the exit code."""
    if isinstance(error, KeyboardInterrupt):
        advice = CONTINUES.get("".join(arguments[:1]), "")
        print(f"samovar: interrupted. {advice}".rstrip(), file=sys.stderr)
        if isinstance(error, Stopped):
            return error.code
        return INTERRUPTED
    if _lacks_memory(error):
        print(f"samovar: {NO_MEMORY}", file=sys.stderr)
        return 1
    # Besides our own errors these are the operating system's, such as a path that is too long.
    print(f"samovar: {message(str(error))}", file=sys.stderr)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EIO):
        discard_output()  # it may be our output that is full
    return 2


def _lacks_memory(error: BaseException) -> bool:
    """Tell whether an error says that there is not enough memory."""
    if isinstance(error, SamovarError):
        return False
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return any(words in str(error) for words in ALLOCATION_FAILED)
