"""`samovar evaluate` repeats itself, agrees with Python, and refuses the impossible early."""

import json

import numpy as np
import pytest
import tyro
from helpers import make_store

import samovar
from samovar.artifacts.saved_model import SavedModel, save_model
from samovar.cli.evaluate import ProtocolFlags, chosen_protocols
from samovar.cli.main import main
from samovar.data.normalization import Normalization
from samovar.errors import SettingsError
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import Protocol, named_protocol


def test_evaluate_command_and_python_agree_and_repeat(tmp_path, data_folder, capsys):
    split = {
        "train": ["class 0", "class 1", "class 2"],
        "val": ["class 3", "class 4"],
        "test": [f"class {i}" for i in range(5, 9)],
    }
    store = make_store(data_folder, [12] * 9, (12, 12, 3), split)
    settings = ModelSettings(size=12, width=4)
    training = {"settings": {"data": {"name": "toy", "scheme": None, "rotations": False}}}
    saved = SavedModel(FewShotModel(settings), Normalization.standard(store), training)
    save_model(saved, tmp_path / "run" / "model")
    flags = ["--way", "3", "--shot", "2", "--queries", "4", "--episodes", "25", "--samples", "20"]
    for folder in ("one", "two"):
        assert (
            main(["evaluate", str(tmp_path / "run"), *flags, "--out", str(tmp_path / folder)]) == 0
        )
    assert "25 tasks x 4 queries per class, 20 samples" in " ".join(capsys.readouterr().out.split())
    written = [(tmp_path / folder / "evaluation.json").read_bytes() for folder in ("one", "two")]
    assert written[0] == written[1]
    summary = json.loads(written[0])
    evaluation = samovar.evaluate(
        saved, samovar.Protocol(way=3, shot=2, queries=4, episodes=25, samples=20)
    )
    assert evaluation.summary == summary
    assert (
        {"mean", "ci95"} == set(summary["accuracy"]) == set(summary["nll"]) == set(summary["brier"])
    )
    assert summary["protocol"]["norm"] == "running"
    with np.load(tmp_path / "one" / "evaluation.npz") as tasks:
        assert tasks["predictive_accuracy"].shape == (25,)
        assert tasks["predictive_accuracy"].mean() == pytest.approx(summary["accuracy"]["mean"])
    assert (
        main(
            [
                "evaluate",
                str(tmp_path / "run"),
                *flags,
                "--way",
                "9",
                "--out",
                str(tmp_path / "three"),
            ]
        )
        == 2
    )
    assert "too few classes" in capsys.readouterr().err
    assert main(["evaluate", str(tmp_path / "nothing")]) == 2


@pytest.mark.usefixtures("trained")
def test_what_cannot_be_measured_is_refused_before_any_work(tmp_path, capsys):
    run, out = str(tmp_path / "run"), ("--queries", "4", "--out", str(tmp_path / "out"))
    for flags, words in (
        (("--outside", "3", "--norm", "episode"), "--norm running"),
        (("--outside", "3", "--way", "9"), "no class outside a task of 9"),
        (("--way", "5", "30"), "too few classes"),
        (("--shot", "57"), "shot + queries"),
        (("--split", "val", "--way", "8"), "too few classes"),
        (("--draw", "1000"), "--draw"),
    ):
        assert main(["evaluate", run, *flags, *out]) == 2, flags
        assert words in capsys.readouterr().err
    assert not (tmp_path / "out" / "evaluation.json").exists()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--data", "small"], "but the model expects (12, 12, 3)"),
        (["--device", "abacus"], "cpu, cuda, mps or auto"),
        (["--way"], "need at least one number each"),
        (["--named", "versa", "--episodes", "8"], "leave out --episodes."),
        (["--data", "nope"], "no prepared data set called"),
    ],
)
@pytest.mark.usefixtures("trained")
def test_impossible_evaluations_are_refused_before_work(
    tmp_path, data_folder, capsys, flags, words
):
    make_store(data_folder, [12] * 9, (6, 6, 3), name="small")
    assert main(["evaluate", str(tmp_path / "run"), *flags, "--out", str(tmp_path / "out")]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def protocols_of(
    *flags: str, way: tuple = (5,), shot: tuple = (1,), named: str | None = None
) -> list[Protocol]:
    return chosen_protocols(tyro.cli(ProtocolFlags, args=flags), way, shot, named)


def test_every_field_of_a_protocol_is_a_flag_with_its_default():
    assert protocols_of() == [Protocol()]
    assert type(protocols_of()[0]) is Protocol, "equal to one that is made in Python"
    changed = Protocol(queries=3, outside=2, norm="running", split="val", seed=9)
    flags = "--queries 3 --outside 2 --norm running --split val --seed 9"
    assert protocols_of(*flags.split()) == [changed]


def test_ways_and_shots_make_a_grid_of_protocols():
    protocols = protocols_of("--samples", "7", "--quasi", way=(5, 20, 5), shot=(1, 5))
    shapes = [(protocol.way, protocol.shot) for protocol in protocols]
    assert shapes == [(5, 1), (5, 5), (20, 1), (20, 5)]
    assert all(protocol.samples == 7 and protocol.quasi for protocol in protocols)


def test_named_protocols_keep_the_flags_that_they_do_not_determine():
    protocols = protocols_of("--split", "val", "--seed", "3", shot=(1, 5), named="versa")
    changes = {"split": "val", "seed": 3}
    assert protocols == [named_protocol("versa", shot, **changes) for shot in (1, 5)]


def test_flags_that_contradict_a_named_protocol_are_all_named():
    with pytest.raises(SettingsError, match="leave out --way, --pooled-queries, --samples"):
        protocols_of("--pooled-queries", "--samples", "3", way=(3,), named="tadam")
