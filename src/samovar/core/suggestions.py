"""What a user may have meant by a name that does not exist."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question that names the nearest known name, or nothing if none is near.

    It begins with a space, so that it can follow a sentence.

    >>> did_you_mean("cifar-fs", ["glyphs", "cifar_fs"])
    ' Did you mean cifar_fs?'
    >>> did_you_mean("elephant", ["glyphs", "cifar_fs"])
    ''
    """
    by_lower_case = {candidate.lower(): candidate for candidate in known}
    near = difflib.get_close_matches(name.lower(), by_lower_case, n=1)
    if not near:
        return ""
    return f" Did you mean {by_lower_case[near[0]]}?"
