"""Shells complete commands and flags."""

import shutil
import subprocess

import pytest

from samovar.cli.main import main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_has_all_commands_and_their_flags(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for words in ("score", "--follow-links", "prepare", "--validation.every"):
        assert words in script, words


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_a_flag(tmp_path, capsys):
    assert main(["completion", "bash"]) == 0
    (tmp_path / "samovar").write_text(capsys.readouterr().out)
    script = """
source samovar
COMP_WORDS=(samovar score --pic); COMP_CWORD=2
$(complete -p samovar | sed "s/.*-F \\([^ ]*\\).*/\\1/")
echo "${COMPREPLY[@]}"
"""
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert "--picture" in done.stdout


def test_other_shells_are_refused_and_help_says_how(capsys):
    assert main(["completion", "bsh"]) == 2
    assert "Did you mean bash?" in capsys.readouterr().err
    for arguments in ([], ["--help"]):
        assert main(["completion", *arguments]) == 0
        assert "bash-completion/completions/samovar" in capsys.readouterr().out
