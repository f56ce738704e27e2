"""`python -m samovar` is the `samovar` command."""

import sys

from samovar.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
