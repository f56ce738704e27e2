"""What a command of `samovar` is, and how its name on the command line leads to it.

A command has the words that call it, a help text and a function that runs it. Most commands are
made from a Python function, whose parameters become flags and whose docstring becomes the help. A
group such as `samovar data` is a command that passes its arguments on to one of its own commands;
`samovar` itself is the outermost group.
"""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import tyro

Run = Callable[[list[str]], int | None]
"""Takes the arguments after the command's name; returns the exit code, where None stands for 0."""


@dataclass(frozen=True)
class Command:
    """A command of the command line."""

    program: str
    """The words that call it, such as `samovar data list`."""
    help: str
    """What it does; the overview of its group shows the first line."""
    run: Run
    parameters: Callable[..., object] | None = None
    """The function or class whose parameters are its flags, where there is one."""
    commands: tuple["Command", ...] = ()
    """The commands of a group."""

    @property
    def name(self) -> str:
        """The last of the words that call it."""
        return self.program.split()[-1]


def description(function: Callable[..., object]) -> str:
    """Return the docstring of a function without its section on arguments.

    >>> def boil(water: float) -> None:
    ...     '''Boil water.
    ...
    ...     Args:
    ...         water: In litres.
    ...     '''
    >>> description(boil)
    'Boil water.'
    """
    text = inspect.getdoc(function) or ""
    return text.partition("Args:")[0].rstrip()


def from_function(program: str, function: Callable[..., int | None]) -> Command:
    """Make a command of a function: its parameters become flags, its docstring the help."""
    # tyro reads the docstring of the very function, so it is changed there; only its layout is.
    function.__doc__ = flowing(inspect.getdoc(function) or "")

    def run(arguments: list[str]) -> int | None:
        return tyro.cli(function, prog=program, args=arguments)

    return Command(program, description(function), run, function)


def flowing(docstring: str) -> str:
    """Return a docstring with each paragraph, and each argument, on one line.

    tyro wraps lines to fit the terminal, but keeps the breaks of the source before an indented
    line and before one that begins with a bracket or a flag.

    >>> print(flowing("Boil (hot)\\n(very hot).\\n\\nArgs:\\n    water: Much\\n        water."))
    Boil (hot) (very hot).
    <BLANKLINE>
    Args:
        water: Much water.
    """
    lines: list[str] = []
    for line in docstring.splitlines():
        continued = bool(lines) and bool(lines[-1]) and bool(line)
        # Below "Args:", an argument is indented once and its continuation twice.
        starts_argument = re.match(r" {4}\w+: ", line) is not None
        if continued and not starts_argument and line != "Args:":
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(lines)


def group(program: str, text: str, commands: Sequence[Command]) -> Command:
    """Make a command that has commands of its own; without arguments it prints its help."""

    def run(arguments: list[str]) -> int | None:
        for command in commands:
            # A slice, since there may be no arguments at all.
            if arguments[:1] == [command.name]:
                return command.run(arguments[1:])
        return _overview(program, text, commands, arguments or ["--help"])

    return Command(program, text, run, commands=tuple(commands))


def _overview(
    program: str, text: str, commands: Sequence[Command], arguments: list[str]
) -> int | None:
    """Print the help of a group, or name the commands there are when none of them was given.

    tyro does both and then ends the process. It never calls the functions that it is given here:
    they only carry the first lines of the help texts.
    """
    entries = {command.name: _entry(command) for command in commands}
    return tyro.extras.subcommand_cli_from_dict(
        entries, prog=program, description=text, args=arguments
    )


def _entry(command: Command) -> Callable[[], None]:
    def entry() -> None:
        pass

    # The rest is for `samovar COMMAND --help`: the overview has a line for each command.
    entry.__doc__ = command.help.partition("\n")[0]
    return entry
