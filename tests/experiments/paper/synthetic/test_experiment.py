"""`reproduce synthetic` runs the study on the spot, with its own seed."""

from samovar.experiments.experiment import Measurements
from samovar.experiments.paper.synthetic import experiment
from samovar.experiments.paper.synthetic.study import synthetic_study
from samovar.settings.synthetic import SyntheticSettings


def test_the_study_is_run_with_the_seed_that_was_asked_for(monkeypatch):
    """On a tiny grid, since the paper's takes minutes."""
    tiny = SyntheticSettings(
        sigma_y=(0.5,), samples=(1,), seeds=2, monte_carlo_seeds=2, steps=3, new_tasks=5
    )
    monkeypatch.setattr(experiment, "SyntheticSettings", lambda: tiny)
    assert experiment.EXPERIMENT.cells("cpu") == []
    table = experiment.EXPERIMENT.table(Measurements("cpu", [], seed=3))
    assert table.data["settings"]["seed"] == 3
    assert table.data["results"] != synthetic_study(tiny)["results"]
    ratio = table.data["results"][1]["variance_ratio"]
    assert f"| variational | 1 | 0.5 | {ratio['mean']:.3f} ± {ratio['std']:.3f} |" in table.markdown
