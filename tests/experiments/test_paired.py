"""Differences on the same tasks: misses are shown as misses, methods are judged over seeds."""

from dataclasses import replace

import numpy as np
import pytest
from helpers_experiments import keep_evidence

from samovar.experiments.evidence import Workplace, gather_evidence
from samovar.experiments.paired import paired_differences
from samovar.settings.paper import Published


@pytest.mark.parametrize(
    ("ours", "published", "words"),
    [
        (3.0, 2.0, "as in the paper"),
        (-3.0, 2.0, "the other way round"),
        (0.0, 2.0, "no clear difference here"),
        (3.0, 0.1, "no clear difference in the paper"),
    ],
)
def test_misses_are_shown_as_misses(cells, tmp_path, ours, published, words):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    pair = [
        replace(cells[0], published=Published("1", 50.0 + published, 0.2)),
        replace(cells[2], published=Published("1", 50.0, 0.2)),
    ]
    noise = np.random.default_rng(0).normal(0, 0.02, 2000)
    keep_evidence(place, pair[0], 0.5 + ours / 100 + noise)
    keep_evidence(place, pair[1], 0.5 - noise)
    (difference,) = paired_differences(gather_evidence(pair, place))
    assert difference.verdict is not None
    assert words in difference.verdict
    assert difference.published == pytest.approx(published / 100)


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        ((3.1, 3.0), "as in the paper"),
        ((3.1, 0.5), "as in the paper, but not clear over seeds"),
        ((3.1, -5.0), "miss: no clear difference over seeds here"),
    ],
)
def test_methods_are_judged_over_training_seeds(cells, tmp_path, seeds, words):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    noise = np.random.default_rng(0).normal(0, 0.01, 2000)
    for cell, points in zip(cells, (*seeds, 0.0, 0.1), strict=True):
        sign = 1 if cell.row == "samovar" else -1
        keep_evidence(place, cell, 0.5 + points / 100 + sign * noise)
    (one,) = paired_differences(gather_evidence([cells[0], cells[2]], place))
    assert one.verdict == "as in the paper, for these models"
    (both,) = paired_differences(gather_evidence(cells, place))
    assert both.verdict == words
    assert both.seeds == 2
    assert f"over seeds {100 * both.over_seeds.mean:+.2f}" in both.text()


def test_only_seeds_that_both_methods_have_are_compared(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    noise = np.random.default_rng(0).normal(0, 0.01, 2000)
    for cell in cells[:3]:
        keep_evidence(place, cell, 0.5 + noise)
    (difference,) = paired_differences(gather_evidence(cells, place))
    assert difference.seeds == 1
    assert paired_differences(gather_evidence(cells[:2], place)) == []


def test_other_metrics_have_no_published_difference(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    for cell, nll in ((cells[0], 0.7), (cells[2], 0.9)):
        keep_evidence(place, cell, nll + np.linspace(-0.1, 0.1, 200))
    (difference,) = paired_differences(gather_evidence([cells[0], cells[2]], place), "nll")
    assert difference.mean == pytest.approx(-0.2)
    assert difference.verdict is difference.published is None
