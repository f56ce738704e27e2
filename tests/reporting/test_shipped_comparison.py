"""The comparison with a shipped model is printed and stored, or the reason why there is none."""

import json
from dataclasses import replace

import numpy as np
from helpers import store_of
from helpers_training import TINY, make_toy_data

from samovar.reporting.shipped_comparison import report_comparison
from samovar.settings.data import DataSettings
from samovar.training.run import train

QUICK = replace(TINY, updates=1, episodes=replace(TINY.episodes, way=2))


def test_the_comparison_is_printed_and_stored(data_folder, tmp_path, capsys):
    pixels = np.random.default_rng(0).integers(40, 215, (6, 6, 12, 12, 3), np.uint8)
    store = store_of(data_folder, pixels)
    settings = replace(
        QUICK, data=DataSettings(store.name), validation=replace(QUICK.validation, way=2)
    )
    run = train(settings, tmp_path / "run")
    comparison = report_comparison(run)
    printed = capsys.readouterr().out
    assert comparison.sentence() in printed
    assert "Next: samovar fit --model" in printed
    stored = json.loads((tmp_path / "run" / "shipped.json").read_bytes())
    assert stored == comparison.to_json()
    assert stored["model"] == "cifar_fs"


def test_a_run_that_cannot_be_compared_says_why(data_folder, tmp_path, capsys):
    make_toy_data(data_folder)
    rotated = replace(QUICK, data=DataSettings("toy", rotations=True))
    run = train(rotated, tmp_path / "run")
    assert report_comparison(run) is None
    printed = capsys.readouterr().out
    assert "Not compared with a shipped model: the classes of this run are rotated" in printed
    assert not (tmp_path / "run" / "shipped.json").exists()
