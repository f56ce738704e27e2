"""Tables of accuracies: seeds are averaged, misses are called so, gaps are explained."""

from dataclasses import replace

import numpy as np
import pytest
from helpers_experiments import keep_evidence, measurements

from samovar.experiments.accuracy_table import accuracy_entries, accuracy_table
from samovar.experiments.evidence import Workplace
from samovar.experiments.runner import train_and_measure


def test_seeds_of_a_model_are_averaged_task_by_task(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    noise = np.linspace(-0.02, 0.02, 2000)
    keep_evidence(place, cells[0], 0.5 + noise)
    keep_evidence(place, cells[1], 0.6 - noise)
    (entry,) = accuracy_entries(measurements(cells[:2], place))
    assert entry.ours is not None
    assert entry.ours.over_tasks.mean == pytest.approx(0.55)
    assert entry.ours.over_tasks.ci95 == pytest.approx(0, abs=1e-12)  # the noise cancels
    assert entry.text() == "**55.00** ± 0.00 (seeds 50.0, 60.0)"
    assert entry.to_json()["ours"]["std_over_seeds"] == pytest.approx(0.1 / 2**0.5, rel=0.1)


@pytest.mark.parametrize("accuracy", [0.45, 0.55])
def test_a_miss_is_called_so_at_the_papers_scale_only(cells, tmp_path, accuracy):
    """The published accuracy of the cell is 50 %."""
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    keep_evidence(place, cells[0], accuracy + np.random.default_rng(0).normal(0, 0.02, 2000))
    text = accuracy_table("table1", measurements(cells[:1], place, "paper")).markdown
    assert ("**miss**" in text) == (accuracy < 0.5)
    assert "paper 50.0" in text
    small = accuracy_table("table1", measurements(cells[:1], place)).markdown
    assert "**miss**" not in small


def test_a_published_accuracy_of_other_data_stands_in_a_table_of_its_own(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    keep_evidence(place, cells[0], np.full(10, 0.45))
    ours, published = accuracy_table("t", measurements(cells[:1], place)).markdown.split(
        "Published,"
    )
    assert "45.00" in ours
    assert "50.0" not in ours
    assert "50.0" in published
    assert "45.00" not in published


def test_entries_that_are_not_measured_say_how_far_they_are(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    (entry,) = accuracy_entries(measurements(cells[:1], place))
    assert entry.text() == "ready to run"
    assert entry.to_json()["ours"] is None
    train_and_measure(cells[:1], place, lambda _: None, measure_only=False)
    place.training(cells[0]).unlink()
    (entry,) = accuracy_entries(measurements(cells[:1], place))
    assert entry.text() == "trained, not measured"
    card = place.run(cells[0]) / "model" / "config.json"
    card.write_text('{"training": {"figures": {}}}')
    (entry,) = accuracy_entries(measurements(cells[:1], place))
    assert entry.text() == "training not finished"


def test_methods_are_compared_within_their_group_in_every_layout(cells, tmp_path):
    """Table 2 has the method in its columns, Tables 4 and 5 compare augmentation with none."""
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    noise = np.random.default_rng(0).normal(0, 0.02, 100)
    keep_evidence(place, cells[0], 0.6 + noise)
    keep_evidence(place, cells[2], 0.5 - noise)
    for first, second in (("samovar", "tadam"), ("augmented", "plain")):
        group = "SC, 1-shot"
        layout = [
            replace(cells[0], row="SC", column=f"{first} 1-shot", method=first, group=group),
            replace(cells[2], row="SC", column=f"{second} 1-shot", method=second, group=group),
        ]
        text = accuracy_table("table2", measurements(layout, place)).markdown
        assert f"- SC, 1-shot: {first} - {second}: " in text
        assert "paper +10.0" in text
