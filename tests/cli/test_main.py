"""The command line has quick help that explains the commands."""

import subprocess
import sys

import pytest

from samovar.cli.main import main


@pytest.mark.slow
def test_help_loads_no_torch():
    script = "import sys\nfrom samovar.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    script += "heavy = {'torch', 'matplotlib', 'numpy'} & set(sys.modules)\nassert not heavy, heavy"
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_help_and_no_arguments_explain_the_commands(capsys):
    for arguments in (["--help"], []):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 0
        assert "synthetic" in capsys.readouterr().out
