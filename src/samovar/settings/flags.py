"""Settings as words of the command line: the way back from a value to the flags that give it."""

from typing import Any

from samovar.settings.stored import Difference, differences


def flags_for(default: Any, wanted: Any) -> list[str]:
    """Return the flags that turn default settings into the wanted ones.

    >>> from samovar.settings.tasks import Protocol
    >>> flags_for(Protocol(), Protocol(shot=5, quasi=True))
    ['--shot', '5', '--quasi']
    """
    words = []
    for difference in differences(default, wanted):
        words += flag_for(difference)
    return words


def flag_for(difference: Difference) -> list[str]:
    """Return the words of the command line that set a field to its new value.

    >>> flag_for(Difference(("optimizer", "drops"), (), (100, 200)))
    ['--optimizer.drops', '100', '200']
    >>> flag_for(Difference(("model", "task_embedding"), True, False))
    ['--model.no-task-embedding']
    """
    # tyro writes a field of a nested dataclass as --outer.inner, and switches it off by
    # --outer.no-inner.
    names = [name.replace("_", "-") for name in difference.path]
    value: Any = difference.new
    if value is False:
        names[-1] = f"no-{names[-1]}"
    word = f"--{'.'.join(names)}"
    if isinstance(value, bool):
        return [word]
    if isinstance(value, tuple):
        return [word, *map(str, value)]
    return [word, str(value)]
