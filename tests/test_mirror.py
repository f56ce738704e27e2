"""The tests mirror the source file for file: every module has its tests, and every test file has
its module.
"""

from pathlib import Path

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "samovar"

WITHOUT_TESTS: dict[str, str] = {}
"""Modules that need no test file of their own, as `room/module.py`, with the reason."""

WITHOUT_MODULE = {"test_contract.py", "test_main.py", "test_mirror.py", "test_package.py"}
"""Tests of the order of the rooms, of `__main__.py`, of this mirror and of the public names."""


def mirrored() -> dict[str, str]:
    """The test file that each module should have."""
    modules = (
        path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if not path.name.startswith("__")
    )
    return {
        module.as_posix(): module.with_name(f"test_{module.name}").as_posix() for module in modules
    }


def present() -> set[str]:
    """All test files that should mirror a module."""
    found = {path.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    return {path.as_posix() for path in found if path.parts[0] != "end_to_end"} - WITHOUT_MODULE


def test_every_module_has_a_test_file():
    there = {name for name in present() if "def test_" in (TESTS / name).read_text()}
    missing = {module: test for module, test in mirrored().items() if test not in there}
    assert sorted(missing.keys() - WITHOUT_TESTS.keys()) == []
    assert sorted(WITHOUT_TESTS.keys() - missing.keys()) == [], (
        "these have tests, or are no modules"
    )


def test_every_test_file_mirrors_a_module():
    assert sorted(present() - set(mirrored().values())) == []
