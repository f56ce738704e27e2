"""Several models under several protocols: a piece for each, which does nothing if it was done."""

import json
import shlex
from pathlib import Path

import pytest

from samovar.cli.evaluate_many import planned_evaluations
from samovar.cli.main import main
from samovar.settings.evaluation import EvaluationSettings
from samovar.settings.tasks import Protocol

SMALL = ["--way", "3", "--queries", "4", "--episodes", "6", "--samples", "10", "--no-temperature"]


@pytest.fixture
def runs(trained, tmp_path, monkeypatch) -> list[str]:
    """The folders of two runs, the second of which is a copy."""
    import shutil

    monkeypatch.chdir(tmp_path)
    shutil.copytree("run", "again")
    return ["run", "again"]


def test_every_model_and_protocol_has_a_folder_and_a_row(runs, tmp_path, capsys):
    flags = [*SMALL, "--shot", "1", "2", "--out", "out"]
    assert main(["evaluate", *runs, *flags]) == 0
    rows = json.loads((tmp_path / "out" / "evaluations.json").read_text())
    assert [(row["model"], row["protocol"]["shot"]) for row in rows] == [
        ("run", 1),
        ("run", 2),
        ("again", 1),
        ("again", 2),
    ]
    assert rows[0]["accuracy"] == rows[2]["accuracy"]
    for row in rows:
        stored = json.loads((tmp_path / row["folder"] / "evaluation.json").read_text())
        assert stored["accuracy"]["mean"] == pytest.approx(row["accuracy"]["mean"])
    assert "3-way 2-shot" in capsys.readouterr().out


def test_what_was_evaluated_is_not_evaluated_again(runs, tmp_path):
    flags = ["evaluate", *runs, *SMALL, "--out", "out"]
    assert main(flags) == 0
    files = sorted((tmp_path / "out").rglob("evaluation.npz"))
    before = [file.stat().st_mtime_ns for file in files]
    assert main(flags) == 0
    assert [file.stat().st_mtime_ns for file in files] == before
    # Another protocol is another evaluation; the former one is kept beside it.
    assert main([*flags, "--seed", "1"]) == 0
    assert len(sorted((tmp_path / "out").rglob("evaluation.npz"))) == 4


def test_one_piece_is_the_command_that_one_would_write(runs, tmp_path):
    (planned,) = planned_evaluations(
        [Path("run")], [Protocol(shot=5, quasi=True)], EvaluationSettings(out=Path("out"))
    )
    words = shlex.split(planned.piece(EvaluationSettings(out=Path("out"), rivals=True)).command)
    assert words[:3] == ["samovar", "evaluate", str(tmp_path / "run")]
    folder = str(tmp_path / "out" / "run" / "5way-5shot")
    assert words[3:] == ["--shot", "5", "--quasi", "--rivals", "--once", "--out", folder]


def test_a_model_that_is_not_there_is_refused_before_anything_runs(runs, tmp_path, capsys):
    assert main(["evaluate", "run", "none", *SMALL, "--out", "out"]) == 2
    assert "none" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_another_norm_or_wish_is_another_evaluation(runs, tmp_path):
    flags = ["evaluate", *runs, *SMALL, "--out", "out"]
    assert main([*flags, "--norm", "episode"]) == 0
    assert main(flags) == 0
    (row, _) = json.loads((tmp_path / "out" / "evaluations.json").read_text())
    assert row["protocol"]["norm"] == "running"
    assert main([*flags, "--draw", "1"]) == 0
    assert (tmp_path / "out" / "run" / "3way-1shot" / "episode-0.png").exists()


def test_a_folder_named_like_a_shipped_model_is_not_meant(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "glyphs").mkdir()
    (planned,) = planned_evaluations([Path("glyphs")], [Protocol()], EvaluationSettings())
    assert shlex.split(planned.piece(EvaluationSettings()).command)[2] == "glyphs"


def test_models_never_share_a_folder(runs, tmp_path, capsys):
    (tmp_path / "a").mkdir()
    (tmp_path / "run").rename(tmp_path / "a" / "b")
    (tmp_path / "again").rename(tmp_path / "a-b")
    assert main(["evaluate", "a/b", "a-b", *SMALL, "--out", "out"]) == 2
    assert "would both be evaluated" in capsys.readouterr().err


def test_without_a_model_there_is_a_sentence(capsys):
    assert main(["evaluate"]) == 2
    assert "Name a model" in capsys.readouterr().err


def test_results_go_to_an_address(runs, tmp_path):
    assert main(["evaluate", "run", *SMALL, "--out", f"file://{tmp_path}/there"]) == 0
    assert (tmp_path / "there" / "evaluation.json").exists()
    assert (tmp_path / "there" / "report.html").exists()
