"""The version is that of the installed package, and importing samovar does not look it up."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import samovar
from samovar.core.version import VERSION


def test_the_version_is_that_of_the_package():
    assert samovar.__version__ == VERSION == version("samovar")


@pytest.mark.slow
def test_importing_the_package_does_not_look_it_up():
    """It takes longer than all else that is imported, and a Ctrl-C meanwhile shows a traceback."""
    script = "import sys, samovar; assert 'importlib.metadata' not in sys.modules"
    subprocess.run([sys.executable, "-S", "-c", _with_path(script)], check=True)


def _with_path(script: str) -> str:
    return f"import sys; sys.path[:0] = {sys.path!r}; {script}"
