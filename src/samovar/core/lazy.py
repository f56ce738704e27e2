"""Public names that load on first use.

A package that lists its public names here costs next to nothing to import: `import samovar` and
`samovar --help` load neither torch nor numpy, and yet `samovar.train` is there when it is asked
for.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package with public names from other modules.

    `homes` maps each public name to its module, or to `module:name` where it has another name
    there.

    >>> getattr_, dir_ = lazy_exports("samovar", {"root": "math:sqrt"})
    >>> getattr_("root")(9.0)
    3.0
    >>> "root" in dir_()
    True
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, attribute = homes[name].partition(":")
        return getattr(import_module(module), attribute or name)

    def names() -> list[str]:
        special = [name for name in vars(import_module(package)) if name.startswith("__")]
        return sorted([*homes, *special])

    return get, names
