"""The public names are all there, are shown, and load only what they need."""

import ast
import importlib
import inspect
import subprocess
import sys
from types import ModuleType

import pytest

import samovar


@pytest.mark.parametrize("name", ["samovar", "samovar.evaluation"])
def test_public_names_are_all_there(name):
    package = importlib.import_module(name)
    for public in package.__all__:
        assert getattr(package, public) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = package.nonsense


@pytest.mark.parametrize("name", ["samovar", "samovar.evaluation"])
def test_dir_shows_the_public_names_and_type_checkers_see_the_same(name):
    package = importlib.import_module(name)
    assert set(package.__all__) == set(dir(package)) - set(vars(package))
    assert {alias.asname for alias in typed_imports(package)} == set(package.__all__)


def typed_imports(package: ModuleType) -> list[ast.alias]:
    """What a package imports for type checkers only."""
    aliases = []
    for node in ast.parse(inspect.getsource(package)).body:
        if isinstance(node, ast.If):
            for statement in node.body:
                assert isinstance(statement, ast.ImportFrom)
                aliases += statement.names
    return aliases


def test_public_names_are_those_of_their_rooms():
    from samovar.artifacts.saved_model import load_model
    from samovar.evaluation.comparison import compare
    from samovar.settings.presets import PRESETS

    assert samovar.load_model is load_model
    assert samovar.compare is compare
    assert samovar.presets is PRESETS


@pytest.mark.slow
def test_the_package_is_light_until_it_is_used():
    script = """
import sys
import samovar, samovar.evaluation
dir(samovar), samovar.TrainSettings, samovar.presets
heavy = {"torch", "numpy", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
