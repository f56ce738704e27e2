"""Another evaluation is kept when a new one takes its place; the same one is replaced."""

import json

import pytest

from samovar.cli.main import main
from samovar.reporting.former_evaluation import keep_former, move_evaluation

SUMMARY = {"protocol": {"way": 5}, "model_identity": "a", "data_identity": "b", "nll": 1.0}


def test_only_another_evaluation_is_moved(tmp_path):
    assert keep_former(tmp_path, SUMMARY) is None, "there is none"
    (tmp_path / "evaluation.json").write_text(json.dumps(SUMMARY))
    (tmp_path / "notes.txt").write_text("mine")
    assert keep_former(tmp_path, SUMMARY | {"nll": 2.0}) is None
    for number, changes in enumerate([{"protocol": {"way": 4}}, {"model_identity": "c"}], start=1):
        (tmp_path / "evaluation.json").write_text(json.dumps(SUMMARY))
        place = keep_former(tmp_path, SUMMARY | changes)
        assert place == tmp_path / f"earlier-{number}"
        assert json.loads((place / "evaluation.json").read_bytes()) == SUMMARY
    assert (tmp_path / "notes.txt").exists(), "what is not ours stays"


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"protocol": 1}', "[" * 100_000])
def test_a_damaged_summary_is_moved_too(content, tmp_path):
    (tmp_path / "evaluation.json").write_text(content)
    assert keep_former(tmp_path, SUMMARY) == tmp_path / "earlier-1"


def test_all_files_of_an_evaluation_move_together(tmp_path):
    names = ("evaluation.json", "evaluation.npz", "report.html", "classes.png", "episode-12.png")
    for name in (*names, "photo.png"):
        (tmp_path / name).touch()
    place = move_evaluation(tmp_path)
    assert sorted(path.name for path in place.iterdir()) == sorted(names)
    assert (tmp_path / "photo.png").exists()


@pytest.mark.usefixtures("trained")
def test_a_new_evaluation_says_where_the_former_one_is(tmp_path, capsys):
    flags = [
        "--queries",
        "4",
        "--episodes",
        "5",
        "--samples",
        "5",
        "--way",
        "2",
        "--no-temperature",
    ]
    command = ["evaluate", str(tmp_path / "run"), *flags]
    folder = tmp_path / "run" / "evaluation"
    assert main([*command, "--shot", "1"]) == 0
    first = (folder / "evaluation.json").read_bytes()
    capsys.readouterr()
    assert main([*command, "--shot", "1"]) == 0
    assert "earlier" not in capsys.readouterr().out
    assert main([*command, "--shot", "2"]) == 0
    assert f"it is now in {folder / 'earlier-1'}" in capsys.readouterr().out.replace("\n", "")
    assert (folder / "earlier-1" / "evaluation.json").read_bytes() == first
    assert (folder / "earlier-1" / "report.html").exists()
    page = (folder / "report.html").read_text()
    assert f"<h1>Evaluation of {tmp_path / 'run'}</h1>" in page
    assert main([*command, "--shot", "1", "2"]) == 0
    assert (folder / "earlier-2" / "evaluation.json").exists()
    assert not (folder / "evaluation.json").exists(), "nothing stale beside the common report"
