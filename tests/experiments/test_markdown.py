"""Tables show misses as misses and judge methods over training seeds."""

from dataclasses import replace

import numpy as np
import pytest
from helpers_experiments import keep_evidence

from samovar.experiments import tables
from samovar.experiments.reproduce import Workplace
from samovar.settings.paper import Published


@pytest.mark.parametrize(
    ("ours", "published", "words"),
    [(3.0, 2.0, "as in the paper"), (-3.0, 2.0, "the other way round"), (0.0, 2.0, "no clear difference here"),
     (3.0, 0.1, "no clear difference in the paper")],
)  # fmt: skip
def test_misses_are_shown_as_misses(cells, tmp_path, ours, published, words):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    pair = [replace(cells[0], published=Published("1", 50.0 + published, 0.2)), cells[2]]
    pair[1] = replace(pair[1], published=Published("1", 50.0, 0.2))
    noise = np.random.default_rng(0).normal(0, 0.02, 2000)
    for cell, mean in zip(pair, (0.5 + ours / 100, 0.5), strict=True):
        keep_evidence(place, cell, mean + (noise if cell.row == "samovar" else -noise))
    (difference,) = tables.paired_differences(pair, place)
    assert words in difference["verdict"]
    at_paper_scale = tables.table("table1", "paper", pair, place)
    assert ("**miss**" in at_paper_scale.text) == (ours < published)


@pytest.mark.parametrize(
    ("second_seed", "words"),
    [(3.0, "as in the paper"), (0.5, "as in the paper, but not clear over seeds")],
)
def test_methods_are_judged_over_training_seeds(cells, tmp_path, second_seed, words):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    noise = np.random.default_rng(0).normal(0, 0.01, 2000)
    for cell, points in zip(cells, (3.1, second_seed, 0.0, 0.1), strict=True):
        keep_evidence(
            place, cell, 0.5 + points / 100 + noise * (1 if cell.row == "samovar" else -1)
        )
    (one,) = tables.paired_differences([cells[0], cells[2]], place)
    assert one["verdict"] == "as in the paper, for these models"
    (both,) = tables.paired_differences(cells, place)
    assert both["verdict"] == words
