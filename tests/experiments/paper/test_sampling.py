"""The sampling study of a cell is kept, and its table has the gain beside the published one."""

import json
import shutil
from dataclasses import asdict, replace

from samovar.experiments import command
from samovar.experiments.reproduce import Workplace, reproduce, state_of
from samovar.experiments.sampling_table import sampling


def test_a_sampling_study_is_kept_and_needs_the_weights_once(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    plain, studied = cells[0], replace(cells[0], study=replace(cells[0].protocol, episodes=3))
    reproduce([plain], place, lambda _: None, measure_only=False)
    before = (place.evidence(plain) / "evaluation.json").stat().st_mtime_ns
    assert state_of(plain, place) == "measured"
    assert state_of(studied, place) == "trained"
    assert "Nothing has been measured yet" in sampling("cpu", [studied], place).text
    reproduce([studied], place, lambda _: None, measure_only=True)
    assert (
        place.evidence(plain) / "evaluation.json"
    ).stat().st_mtime_ns == before  # what is kept is not done again
    shutil.rmtree(place.runs)
    assert state_of(studied, place) == state_of(plain, place) == "measured"
    other = replace(studied, study=replace(studied.protocol, episodes=4))
    assert (
        state_of(other, place) == "missing"
    )  # a study of other tasks does not count, and the weights are gone
    written, picture = command.build("sampling", "cpu", [studied], place)
    assert f"| 1 | {plain.name} |" in written.text
    assert picture is not None


def test_the_sampling_table_has_the_gain_beside_the_published_one(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    gain = {"mean": 0.025, "ci95": 0.001}
    accuracies = ((1, 0.5), (1000, 0.62), (10_000, 0.625))
    rows = [
        {"kind": "plain", "samples": count, "accuracy": [each], "gain": gain}
        for count, each in accuracies
    ]
    study = {"results": rows, "mean_classifier": {"accuracy": 0.6}, "quasi_equal_to_1000": 128}
    studied = [
        replace(cells[i], study=replace(cells[i].protocol, shot=shot))
        for i, shot in enumerate((5, 1))
    ]
    for cell in studied:
        assert cell.study is not None
        place.sampling(cell).parent.mkdir(parents=True)
        about = {
            "settings": asdict(cell.settings),
            "protocol": asdict(cell.study) | {"samples": None},
        }
        place.sampling(cell).write_text(json.dumps(about | study))
    text = sampling("cpu", studied, place).text
    assert (
        "| 5 | samovar-0 | 60.00 | 50.00 | 62.00 | 62.50 | +2.50 ± 0.10 | +0.1 | 128 quasi-random |"
        in text
    )
    assert "| +0.4 |" in text
