"""`samovar reproduce`: plans, commands that train what they say, and tables made from kept evidence."""

import json
import shlex
import shutil
from dataclasses import asdict, replace

import numpy as np
import pytest
import tyro
from conftest import make_store

from samovar.cli import main
from samovar.commands.train import TrainCommand
from samovar.config import EpisodeSettings, ModelSettings, Protocol
from samovar.errors import RunError
from samovar.experiments import command, studies, tables, traces
from samovar.experiments.cells import EXPERIMENTS, Cell
from samovar.experiments.parallel import train_together
from samovar.experiments.reproduce import Workplace, reproduce, shell_command, state_of
from samovar.experiments.sampling_table import sampling
from samovar.preset_table import PRESETS
from samovar.run_config import DataSettings, OptimizerSettings, Published, TrainSettings, ValidationSettings
from samovar.run_folder import read_metrics
from samovar.training import train

ALL_CELLS = {cell.name: cell for scale in ("cpu", "paper") for build in EXPERIMENTS.values() for cell in build(scale)}


@pytest.mark.parametrize("cell", ALL_CELLS.values(), ids=ALL_CELLS)
def test_printed_commands_train_exactly_the_cell(cell, tmp_path):
    words = shlex.split(shell_command(cell, Workplace(tmp_path, tmp_path)))
    assert words[:2] == ["samovar", "train"]
    parsed = tyro.cli(TrainCommand, default=TrainCommand(PRESETS[words[2]].settings), args=words[3:])
    assert parsed.settings == cell.settings
    assert parsed.out == tmp_path / cell.name


def test_every_cell_of_the_papers_tables_is_there():
    counts = {name: len(EXPERIMENTS[name]("paper")) for name in ("table1", "table2", "table3", "table4", "table5")}
    assert counts == {"table1": 6, "table2": 32, "table3": 6, "table4": 2, "table5": 2}
    assert all(cell.published is not None for name in counts for cell in EXPERIMENTS[name]("paper"))


def test_runs_are_shared_between_experiments():
    names = {name: {cell.name for cell in build("cpu")} for name, build in EXPERIMENTS.items()}
    assert names["shots"] == names["calibration"] == names["table1"]
    assert names["collapse"] <= names["table1"]
    assert len(names["beta"] & names["table1"]) == 2  # x 1 of both shots
    assert names["sampling"] < names["table1"] | (names["table2"] & names["table5"])
    paper = {name: {cell.name for cell in build("paper")} for name, build in EXPERIMENTS.items()}
    assert len(paper["table3"] & (paper["table1"] | paper["table2"])) == 4


@pytest.mark.parametrize("scale", ["cpu", "paper"])
def test_cells_of_one_name_are_one_run(scale):
    runs: dict[str, Cell] = {}
    for cell in (cell for build in EXPERIMENTS.values() for cell in build(scale)):
        first = runs.setdefault(cell.name, cell)
        assert first.settings == cell.settings
        assert {first.protocol, *first.also} == {cell.protocol, *cell.also}


def test_transductive_models_of_the_paper_are_measured_by_running_norm_too(cells, tmp_path):
    paper = [*EXPERIMENTS["table1"]("paper"), *EXPERIMENTS["table3"]("paper")]
    transductive = [cell for cell in paper if cell.settings.model.norm == "episode"]
    assert len(transductive) == 8
    assert all(cell.also == (replace(cell.protocol, norm="running"),) for cell in transductive)
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    model = replace(cells[0].settings.model, norm="episode")
    protocol = replace(cells[0].protocol, shot=2)
    cell = replace(cells[0], settings=replace(cells[0].settings, model=model), protocol=protocol)
    cell = replace(cell, also=(replace(protocol, norm="running"),))
    reproduce([cell], place, lambda _: None, measure_only=False)
    written = tables.table("table1", "paper", [cell], place)
    stored = json.loads((place.evidence(cell, cell.also[0]) / "evaluation.json").read_bytes())
    (entry,) = written.data["cells"]
    assert entry["protocol"].endswith("episode norm")
    assert stored["protocol"]["norm"] == "running"
    assert entry["running_norm"] == stored["accuracy"]["mean"] != entry["ours"]["mean"]
    assert f"running norm {100 * entry['running_norm']:.1f}" in written.text


def test_betas_are_multiples_of_the_presets_own():
    for cell in EXPERIMENTS["beta"]("paper"):
        own = PRESETS[f"table1-samovar-{cell.settings.episodes.shot}shot"].settings.model.beta
        assert cell.settings.model.beta == pytest.approx(float(cell.row) * own)


@pytest.mark.parametrize("scale", ["cpu", "paper"])
def test_plans_are_printed_without_data_and_nothing_is_trained(scale, tmp_path, capsys):
    flags = ["--scale", scale, "--plan", "--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "out")]
    assert main(["reproduce", "table1", *flags]) == 0
    assert "no data" in capsys.readouterr().out
    assert main(["reproduce", "all", *flags, "--shell"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 30
    assert not (tmp_path / "runs").exists()


@pytest.fixture
def cells(data_folder) -> list[Cell]:
    """Two methods, two seeds of one and one of the other, on images that tell their class."""
    names = [f"class {i}" for i in range(12)]
    make_store(data_folder, [14] * 12, (12, 12, 3), {"train": names[:4], "val": names[4:8], "test": names[8:]})

    def cell(row: str, seed: int) -> Cell:
        method = ModelSettings(method="samovar" if row == "samovar" else "versa", size=12, width=4)
        settings = TrainSettings(
            data=DataSettings("toy"),
            model=method,
            episodes=EpisodeSettings(3, 1, 2),
            tasks=1,
            updates=4,
            optimizer=OptimizerSettings(learning_rate=1e-3),
            validation=ValidationSettings(every=4, tasks=3, way=3, queries=2, test_tasks=3),
            checkpoint_every=2,
            trace_every=1,
            seed=seed,
        )
        protocol = Protocol(3, 1, 4, episodes=25, samples=10)
        also = (replace(protocol, shot=2),)
        published = Published("1", 50.0 if row == "samovar" else 40.0, 0.2)
        return Cell(
            f"{row}-{seed}", row, "1-shot", settings, protocol, published, also=also, method=row, group="1-shot"
        )

    return [cell("samovar", 0), cell("samovar", 1), cell("versa", 0), cell("versa", 1)]


def test_from_nothing_to_tables_and_back_without_weights(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "results")
    said: list[str] = []
    assert {state_of(cell, place) for cell in cells} == {"missing"}
    empty = tables.table("table1", "cpu", cells, place)
    assert "ready to run" in empty.text
    reproduce(cells[:3], place, said.append, measure_only=False)
    assert [state_of(cell, place) for cell in cells] == ["measured", "measured", "measured", "missing"]
    written = tables.table("table1", "cpu", cells, place)
    ours = {each["row"]: each["ours"] for each in written.data["cells"]}
    assert (len(ours["samovar"]["seeds"]), len(ours["versa"]["seeds"])) == (2, 1)
    (pair,) = written.data["paired"]
    assert pair["published"] == pytest.approx(0.1)
    with (
        np.load(place.evidence(cells[0]) / "evaluation.npz") as a,
        np.load(place.evidence(cells[2]) / "evaluation.npz") as b,
    ):
        assert pair["mean"] == pytest.approx((a["predictive_accuracy"] - b["predictive_accuracy"]).mean(), abs=1e-6)
    assert "cpu scale" in written.text
    assert "paper 50.0" in written.text
    for path in sorted(place.runs.rglob("*"), reverse=True):  # weights and checkpoints are gone
        path.rmdir() if path.is_dir() else path.unlink()
    assert tables.table("table1", "cpu", cells, place).data == written.data
    shots = studies.shots(cells, place)
    assert {each["shot"] for each in shots.data["results"]} == {1, 2}
    for name in ("table1", "shots", "calibration", "collapse"):
        _, picture = command.build(name, "cpu", cells, place)
        assert picture is not None
        assert picture.startswith(b"\x89PNG")
    beta = [replace(cell, row=str(1.0 + i)) for i, cell in enumerate(cells[:2])]
    text, picture = command.build("beta", "cpu", beta, place)
    assert "posterior single" in text.text
    assert picture is not None


def test_evidence_of_other_settings_does_not_count(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "results")
    reproduce(cells[:1], place, lambda _: None, measure_only=False)
    changed = replace(cells[0], settings=replace(cells[0].settings, updates=5))
    assert state_of(cells[0], place) == "measured"
    assert state_of(changed, place) == "missing"
    for other in (replace(cells[0].protocol, episodes=30), replace(cells[0].protocol, seed=1)):
        assert state_of(replace(cells[0], protocol=other), place) == "trained"  # to be measured once more
    assert json.loads(place.training(cells[0]).read_text())["samples"]["tasks"] == 25
    (place.evidence(cells[0]) / "evaluation.json").write_text('{"protocol": ')
    with pytest.raises(RunError, match=r"evaluation.json cannot be read"):
        state_of(cells[0], place)


def test_nothing_is_trained_when_only_the_measured_is_wanted(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "results")
    reproduce(cells, place, lambda _: None, measure_only=True)
    assert not place.runs.exists()


def test_trainings_side_by_side_are_those_in_turn(cells, tmp_path):
    together, in_turn = Workplace(tmp_path / "a", tmp_path / "out"), Workplace(tmp_path / "b", tmp_path / "out")
    train_together(cells[:2], together, 2, lambda _: None)
    for cell in cells[:2]:
        assert state_of(cell, together) == "trained"
        train(cell.settings, in_turn.runs / cell.name)
        first = [read_metrics(place.runs / cell.name / "metrics.jsonl")[0] for place in (together, in_turn)]
        assert first[0]["loss"] == pytest.approx(first[1]["loss"], rel=1e-4)  # their threads differ, so later bits may


def test_a_failed_training_is_reported_with_its_log(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    missing = replace(cells[0], settings=replace(cells[0].settings, data=DataSettings("nowhere")))
    (failure,) = train_together([missing], place, 2, lambda _: None)
    assert f"{missing.name}.log" in failure
    assert "nowhere" in (place.runs / f"{missing.name}.log").read_text()


def test_a_run_that_fails_stops_no_other(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    bad = replace(cells[0], name="bad", settings=replace(cells[0].settings, data=DataSettings("nowhere")))
    again = replace(bad, name="again")
    ready = replace(cells[1], only_ready=True)
    said: list[str] = []
    (failure,) = reproduce([bad, again, ready, cells[2]], place, said.append, measure_only=False)
    assert "nowhere" in failure
    assert [state_of(cell, place) for cell in (again, ready, cells[2])] == ["no data", "missing", "measured"]
    assert not any("again: training" in line for line in said)


def test_methods_are_compared_within_their_group_in_every_layout(cells, tmp_path):
    """Table 2 has the method in its columns, Tables 4 and 5 compare with and without augmentation."""
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    reproduce([cells[0], cells[2]], place, lambda _: None, measure_only=False)
    for first, second in (("samovar", "tadam"), ("augmented", "plain")):
        layout = [
            replace(cells[0], row="SC", column=f"{first} 1-shot", method=first, group="SC, 1-shot"),
            replace(cells[2], row="SC", column=f"{second} 1-shot", method=second, group="SC, 1-shot"),
        ]
        written = tables.table("table2", "cpu", layout, place)
        assert f"- SC, 1-shot: {first} - {second}: " in written.text
        assert "paper +10.0" in written.text


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
    ("second_seed", "words"), [(3.0, "as in the paper"), (0.5, "as in the paper, but not clear over seeds")]
)
def test_methods_are_judged_over_training_seeds(cells, tmp_path, second_seed, words):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    noise = np.random.default_rng(0).normal(0, 0.01, 2000)
    for cell, points in zip(cells, (3.1, second_seed, 0.0, 0.1), strict=True):
        keep_evidence(place, cell, 0.5 + points / 100 + noise * (1 if cell.row == "samovar" else -1))
    (one,) = tables.paired_differences([cells[0], cells[2]], place)
    assert one["verdict"] == "as in the paper, for these models"
    (both,) = tables.paired_differences(cells, place)
    assert both["verdict"] == words


def test_the_claim_on_beta_is_judged_around_our_best(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    noise = np.random.default_rng(0).normal(0, 0.02, 2000)
    tried = [replace(cells[0], name=f"beta {m}", row=str(m)) for m in (0.5, 1.0, 5.0, 8.0)]
    assert "0 of 4" in traces.beta("cpu", tried, place).data["claims"][0]["text"]
    for cell, accuracy in zip(tried, (0.60, 0.70, 0.71, 0.705), strict=True):
        keep_evidence(place, cell, accuracy + noise)
    (claim,) = traces.beta("cpu", tried, place).data["claims"]
    assert claim["holds"]
    assert "best is x 5; against it x 8: -0.50" in claim["text"]
    keep_evidence(place, tried[3], 0.69 + noise)
    (claim,) = traces.beta("cpu", tried, place).data["claims"]
    assert claim["holds"] is False
    outside = [tried[1], tried[2], replace(cells[0], name="beta 20", row="20.0")]  # 1 and 20: beyond the range of 5
    keep_evidence(place, outside[2], 0.705 + noise)
    for beside, holds in ((0.70, None), (0.705, True)):
        keep_evidence(place, outside[0], beside + noise)
        (claim,) = traces.beta("cpu", outside, place).data["claims"]
        assert claim["holds"] is holds
    assert "x 1: -0.50 ± 0.00, x 20: -0.50 ± 0.00: it holds even beyond" in claim["text"]


def keep_evidence(place: Workplace, cell: Cell, accuracy: np.ndarray) -> None:
    """What `measure` keeps, with a given accuracy of each task."""
    figures = {"mean": float(accuracy.mean()), "ci95": 0.0}
    way = {"accuracy": figures, "nll": figures, "ece": {"value": 0.0}}
    summary = way | {"mean_classifier": way, "data": "", "data_checksum": "", "episodes": len(accuracy)}
    for protocol in (cell.protocol, *cell.also):
        folder = place.evidence(cell, protocol)
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {f"predictive_{name}": accuracy for name in ("accuracy", "nll", "brier")}
        np.savez(folder / "evaluation.npz", **arrays)
        stored = summary | {"protocol": asdict(protocol) | {"norm": "running", "text": str(protocol)}}
        (folder / "evaluation.json").write_text(json.dumps(stored))
    names = ("prior single", "prior average", "posterior single", "posterior average")
    samples = dict.fromkeys(names, figures) | {"tasks": cell.protocol.episodes}
    kept = {"settings": asdict(cell.settings), "samples": samples}
    place.training(cell).write_text(json.dumps(kept))


def test_beyond_the_paper_there_is_no_scale_of_the_paper(tmp_path, capsys):
    assert main(["reproduce", "shots", "--scale", "paper", "--out", str(tmp_path)]) == 2
    assert "beyond the paper" in capsys.readouterr().err


def test_plans_and_coverage_fetch_nothing(data_folder, tmp_path, capsys):
    for flags in (["table3", "--plan"], ["coverage"], ["table1", "--measured-only"]):
        assert main(["reproduce", *flags, "--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "out")]) == 0
    assert not list(data_folder.glob("*"))
    assert "0 of 6 runs are to be trained" in capsys.readouterr().out


def test_a_sampling_study_is_kept_and_needs_the_weights_once(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    plain, studied = cells[0], replace(cells[0], study=replace(cells[0].protocol, episodes=3))
    reproduce([plain], place, lambda _: None, measure_only=False)
    before = (place.evidence(plain) / "evaluation.json").stat().st_mtime_ns
    assert state_of(plain, place) == "measured"
    assert state_of(studied, place) == "trained"
    assert "Nothing has been measured yet" in sampling("cpu", [studied], place).text
    reproduce([studied], place, lambda _: None, measure_only=True)
    assert (place.evidence(plain) / "evaluation.json").stat().st_mtime_ns == before  # what is kept is not done again
    shutil.rmtree(place.runs)
    assert state_of(studied, place) == state_of(plain, place) == "measured"
    other = replace(studied, study=replace(studied.protocol, episodes=4))
    assert state_of(other, place) == "missing"  # a study of other tasks does not count, and the weights are gone
    written, picture = command.build("sampling", "cpu", [studied], place)
    assert f"| 1 | {plain.name} |" in written.text
    assert picture is not None


def test_samples_of_other_tasks_are_measured_again(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    reproduce(cells[:1], place, lambda _: None, measure_only=False)
    path = place.training(cells[0])
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"samples": kept["samples"] | {"tasks": 7}}))
    assert state_of(cells[0], place) == "trained"
    reproduce(cells[:1], place, lambda _: None, measure_only=True)
    assert json.loads(path.read_text())["samples"] == kept["samples"]


def test_the_sampling_table_has_the_gain_beside_the_published_one(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    gain = {"mean": 0.025, "ci95": 0.001}
    accuracies = ((1, 0.5), (1000, 0.62), (10_000, 0.625))
    rows = [{"kind": "plain", "samples": count, "accuracy": [each], "gain": gain} for count, each in accuracies]
    study = {"results": rows, "mean_classifier": {"accuracy": 0.6}, "quasi_equal_to_1000": 128}
    studied = [replace(cells[i], study=replace(cells[i].protocol, shot=shot)) for i, shot in enumerate((5, 1))]
    for cell in studied:
        assert cell.study is not None
        place.sampling(cell).parent.mkdir(parents=True)
        about = {"settings": asdict(cell.settings), "protocol": asdict(cell.study) | {"samples": None}}
        place.sampling(cell).write_text(json.dumps(about | study))
    text = sampling("cpu", studied, place).text
    assert "| 5 | samovar-0 | 60.00 | 50.00 | 62.00 | 62.50 | +2.50 ± 0.10 | +0.1 | 128 quasi-random |" in text
    assert "| +0.4 |" in text
