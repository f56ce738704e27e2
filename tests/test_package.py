"""The public names are all there, are shown, and load only what they need."""

import importlib
import subprocess
import sys

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
def test_dir_shows_the_public_names(name):
    package = importlib.import_module(name)
    assert set(package.__all__) <= set(dir(package))
    assert package.__all__ == sorted(package.__all__)


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
