"""A finished run leaves its test result and its pictures, and says where they are."""

import json

import pytest
from helpers_images import has_color
from helpers_training import TINY

from samovar.reporting.figures.style import GREEN
from samovar.reporting.run_report import write_report
from samovar.settings.paper import Published
from samovar.training.run import train


@pytest.mark.usefixtures("toy_data")
def test_a_finished_run_leaves_its_result_and_pictures(finished, capsys):
    run = train(TINY, finished)  # nothing is left to train
    write_report(run, Published("5", 70.0, 0.5))
    printed = capsys.readouterr().out
    stored = json.loads((finished / "test.json").read_bytes())
    assert stored["accuracy"] == {"mean": run.test.mean, "ci95": run.test.ci95}
    assert stored["data"] == "toy (test, 3 classes)"
    assert stored["protocol"].startswith("3-way 1-shot, 4 tasks x 3 queries per class")
    for name in ("training.png", "episode.png"):
        assert has_color((finished / name).read_bytes(), GREEN)
        assert str(finished / name) in printed
    assert f"Test accuracy {run.test}" in printed
    assert "Published (table 5): 70.0 ± 0.5 %" in printed
    assert f"Model: {finished / 'model'}" in printed


@pytest.mark.usefixtures("toy_data")
def test_the_picture_is_the_same_as_from_a_freshly_embedded_split(finished):
    """The runner of the test may be used again: its state is that of a new one."""
    from samovar.evaluation.task_runner import TaskRunner
    from samovar.reporting.figures.episode import draw_task

    run = train(TINY, finished)
    runner = run.test_runner
    fresh = TaskRunner(run.model.model, runner.dataset, run.model.normalisation, runner.device)
    protocol = TINY.validation.protocol(1)
    assert draw_task(runner, protocol, 0) == draw_task(fresh, protocol, 0)
