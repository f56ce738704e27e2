"""The sampling study of a cell is kept, and its table has the gain beside the published one."""

import json
import shutil
from dataclasses import asdict, replace

from helpers_experiments import measurements

from samovar.experiments.evidence import Evidence, Workplace
from samovar.experiments.paper.sampling import EXPERIMENT
from samovar.experiments.runner import build, train_and_measure


def test_a_sampling_study_is_kept_and_needs_the_weights_once(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    plain = cells[0]
    studied = replace(plain, study=replace(plain.protocol, episodes=3))
    train_and_measure([plain], place, lambda _: None, measure_only=False)
    evaluation = place.evaluation(plain) / "evaluation.json"
    before = evaluation.stat().st_mtime_ns
    assert Evidence(plain, place).state == "measured"
    assert Evidence(studied, place).state == "trained"
    empty = EXPERIMENT.table(measurements([studied], place))
    assert "Nothing has been measured yet" in empty.markdown
    train_and_measure([studied], place, lambda _: None, measure_only=True)
    assert evaluation.stat().st_mtime_ns == before  # what is kept is not measured again
    shutil.rmtree(place.runs)
    assert Evidence(studied, place).state == Evidence(plain, place).state == "measured"
    # A study of other tasks does not count, and the weights are gone.
    other = replace(studied, study=replace(studied.protocol, episodes=4))
    assert Evidence(other, place).state == "missing"
    table, picture = build(EXPERIMENT, measurements([studied], place))
    assert f"| 1 | {plain.name} |" in table.markdown
    assert picture is not None


def test_the_sampling_table_has_the_gain_beside_the_published_one(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    results = []
    for samples, accuracy in ((1, 0.5), (1000, 0.62), (10_000, 0.625)):
        gain = {"mean": 0.025, "ci95": 0.001}
        row = {"samples": samples, "accuracy": [accuracy], "gain": gain, "error": 0.1}
        results.append({"kind": "plain"} | row)
    results.append(results[0] | {"kind": "quasi"})
    study = {"results": results, "mean_classifier": {"accuracy": 0.6}, "quasi_equal_to_1000": 128}
    study["repeats"] = 1
    studied = []
    for cell, shot in zip(cells, (5, 1), strict=False):
        studied.append(replace(cell, study=replace(cell.protocol, shot=shot)))
    for cell in studied:
        place.sampling(cell).parent.mkdir(parents=True)
        protocol = asdict(cell.study) | {"samples": None}
        about = {"settings": asdict(cell.settings), "protocol": protocol}
        place.sampling(cell).write_text(json.dumps(about | study))
    text = EXPERIMENT.table(measurements(studied, place)).markdown
    row = (
        "| 5 | samovar-0 | 60.00 | 50.00 | 62.00 | 62.50 | +2.50 ± 0.10 | +0.1 | 128 quasi-random |"
    )
    assert row in text
    assert "| +0.4 |" in text


def test_the_study_is_of_the_full_model_as_in_the_paper():
    for scale in ("cpu", "paper"):
        first, second, *bases = EXPERIMENT.cells(scale)
        assert first.settings.model.task_embedding
        assert second.settings.model.task_embedding
        assert [base.settings.model.task_embedding for base in bases] == [False] * len(bases)
        assert (first.study.shot, second.study.shot, first.study.episodes) == (5, 1, 1000)
