"""The `samovar` command, which is also `python -m samovar`."""

import signal
import sys


def main() -> int:
    """Run the command line; return the exit code.

    Until it is loaded, Ctrl-C ends the process without a word, as it ends other programs. Python's
    own way would show where among the imports it was.
    """
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from samovar.cli.main import main as run

    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, handler)
    return run()


if __name__ == "__main__":
    sys.exit(main())
