"""`samovar completion bash|zsh|fish`: the script that lets a shell complete commands and flags."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tyro

from samovar.cli.command import Command
from samovar.core.suggestions import did_you_mean
from samovar.errors import SettingsError

SHELLS = ("bash", "zsh", "fish")
HELP = """Print a script that completes commands and flags: samovar completion bash, zsh or fish.

bash: samovar completion bash > ~/.local/share/bash-completion/completions/samovar

zsh: samovar completion zsh > ~/.zfunc/_samovar (with `fpath+=~/.zfunc` before compinit in .zshrc)

fish: samovar completion fish > ~/.config/fish/completions/samovar.fish"""


def completion_command(commands: Sequence[Command]) -> Command:
    """Make the command that prints the completion script of these commands."""

    def run(arguments: list[str]) -> None:
        if arguments in (["--help"], ["-h"], []):
            print(f"usage: samovar completion {{{','.join(SHELLS)}}}\n\n{HELP}")
            return
        if len(arguments) != 1 or arguments[0] not in SHELLS:
            given = " ".join(arguments)
            raise SettingsError(
                f"A script can be printed for {', '.join(SHELLS)}, but {given!r} was given."
                f"{did_you_mean(given, SHELLS)}"
            )
        _print_script(commands, arguments[0])

    return Command("samovar completion", HELP, run)


def _print_script(commands: Sequence[Command], shell: str) -> None:
    """Let tyro print the script; it ends the process after that."""
    entries = dict(_functions(commands))
    with contextlib.suppress(SystemExit):
        tyro.extras.subcommand_cli_from_dict(
            entries, prog="samovar", args=["--tyro-print-completion", shell]
        )


def _functions(commands: Sequence[Command]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the words after `samovar` and the function of each command, inside groups too."""
    for command in commands:
        if command.commands:
            yield from _functions(command.commands)
        elif command.parameters is not None:
            yield command.program.removeprefix("samovar "), command.parameters
