"""`samovar reproduce`: plans, commands that train what they say, and tables made from kept evidence."""

import json
import shlex
from dataclasses import replace

import numpy as np
import pytest
import torch
import tyro
from conftest import make_store

from samovar.cli import main
from samovar.commands.train import TrainCommand
from samovar.config import EpisodeSettings, ModelSettings, Protocol
from samovar.errors import RunError
from samovar.experiments import command, tables
from samovar.experiments.cells import EXPERIMENTS, Cell
from samovar.experiments.parallel import train_together
from samovar.experiments.reproduce import Workplace, reproduce, shell_command, state_of
from samovar.experiments.sampling_table import model_at_hand, sampling_text
from samovar.model_folder import load_model, locate_model
from samovar.preset_table import PRESETS
from samovar.run_config import DataSettings, OptimizerSettings, Published, TrainSettings, ValidationSettings
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
    assert counts == {"table1": 6, "table2": 32, "table3": 2, "table4": 2, "table5": 2}
    assert all(cell.published is not None for name in counts for cell in EXPERIMENTS[name]("paper"))


def test_runs_are_shared_between_experiments():
    names = {name: {cell.name for cell in build("cpu")} for name, build in EXPERIMENTS.items()}
    assert names["shots"] == names["calibration"] == names["table1"]
    assert names["collapse"] <= names["table1"]
    assert len(names["beta"] & names["table1"]) == 1


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
        return Cell(f"{row}-{seed}", row, "1-shot", settings, protocol, Published("1", 50.0, 0.2), also=also)

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
    assert (ours["samovar"]["seeds"], ours["versa"]["seeds"]) == (2, 1)
    (pair,) = written.data["paired"]
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
    shots = tables.shots(cells, place)
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
    assert json.loads(place.training(cells[0]).read_text())["samples"]["tasks"] == 25


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
        one, other = (load_model(place.runs / cell.name / "model").model.state_dict() for place in (together, in_turn))
        assert all(torch.allclose(one[name], other[name], atol=1e-5) for name in one)


def test_a_failed_training_is_reported_with_its_log(cells, tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    missing = replace(cells[0], settings=replace(cells[0].settings, data=DataSettings("nowhere")))
    with pytest.raises(RunError, match=f"{missing.name}.log"):
        train_together([missing], place, 2, lambda _: None)
    assert "nowhere" in (place.runs / f"{missing.name}.log").read_text()


def test_the_sampling_study_takes_the_best_model_at_hand(tmp_path):
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    assert model_at_hand(place, 1) == locate_model("cifar_fs")
    for name in ("cifar_fs-conv4-samovar-1shot-seed0", "cifar_fs-narrow-samovar-sc-at-ten-1shot"):
        folder = place.runs / name / "model"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
        assert model_at_hand(place, 1) == folder
    assert model_at_hand(place, 5) == locate_model("cifar_fs")


def test_the_sampling_table_has_the_gain_beside_the_published_one():
    rows = [
        {"kind": "plain", "samples": count, "accuracy": [accuracy]} for count, accuracy in ((1, 0.5), (1000, 0.625))
    ]
    study = {"model": "m", "results": rows, "mean_classifier": {"accuracy": 0.6}, "quasi_equal_to_1000": 128}
    text = sampling_text({"5": study, "1": study}).text
    assert "| 5 | m | 60.00 | 50.00 | 62.50 | +2.50 | +0.1 | 128 quasi-random |" in text
    assert "| +0.4 |" in text
