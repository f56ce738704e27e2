"""The command line's promises: quick help, plain errors, exit codes, whole files."""

import json
import subprocess
import sys

import pytest
from PIL import Image

import samovar
from samovar.cli import main

TINY = ["--seeds", "2", "--monte-carlo-seeds", "1", "--steps", "2", "--samples", "1", "2", "--sigma-y", "0.5"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "samovar", *arguments], capture_output=True, text=True, check=False)


def test_help_loads_no_torch():
    script = "import sys\nfrom samovar.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    script += "heavy = {'torch', 'matplotlib', 'numpy'} & set(sys.modules)\nassert not heavy, heavy"
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_help_and_no_arguments_explain_the_commands(capsys):
    for arguments in (["--help"], []):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 0
        assert "synthetic" in capsys.readouterr().out


def test_synthetic_writes_its_files_twice_the_same(tmp_path):
    contents = []
    for folder in ("one", "two"):
        assert main(["synthetic", *TINY, "--out", str(tmp_path / folder)]) == 0
        contents.append((tmp_path / folder / "synthetic.json").read_bytes())
        assert (tmp_path / folder / "synthetic.png").read_bytes().startswith(b"\x89PNG")
    assert contents[0] == contents[1]
    result = json.loads(contents[0])
    assert {row["method"] for row in result["results"]} == {"exact", "monte_carlo", "variational"}
    for row in result["results"]:
        assert set(row["variance_ratio"]) == {"mean", "std", "seeds"}
        assert (row["samples"] is None) == (row["method"] == "exact")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sigma-y", "-1"], "--sigma-y must be greater than zero"),
        (["--sigma-y", "nan"], "--sigma-y must be greater than zero and finite"),
        (["--samples", "0"], "--samples must be greater than zero"),
        (["--samples", "3", "3"], "--samples needs at least one value, and none of them twice"),
        (["--samples"], "samples"),
        (["--tasks", "0"], "--tasks must be greater than zero"),
        (["--steps", "many"], "steps"),
        (["--no-such-flag"], "--no-such-flag"),
    ],
)
def test_bad_input_is_told_in_plain_words(arguments, message, tmp_path):
    failed = run("synthetic", *arguments, "--out", str(tmp_path / "out"))
    assert failed.returncode == 2
    assert message in failed.stderr
    assert "Traceback" not in failed.stderr
    assert not (tmp_path / "out").exists()


def test_output_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    failed = run("synthetic", *TINY, "--out", str(tmp_path / "file"))
    assert failed.returncode == 2
    assert "Choose another folder" in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
    assert "Traceback" in run("synthetic", *TINY, "--out", str(tmp_path / "file"), "--debug").stderr


def test_public_names_are_all_there():
    for name in samovar.__all__:
        assert getattr(samovar, name)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = samovar.nonsense


def test_data_from_prepare_to_verify(tmp_path, capsys):
    """A folder of images through all four data commands."""
    for name in ("ant", "bee", "cat [bold]", "dog\nrow"):
        (tmp_path / "own" / name).mkdir(parents=True)
        for shade in (0, 100, 200):
            Image.new("RGB", (20, 16), (shade, 0, 0)).save(tmp_path / "own" / name / f"{shade}.png")
    assert main(["data", "prepare", "folder", "--root", str(tmp_path / "own"), "--store", "pets", "--size", "16"]) == 0
    assert "pets: 12 of 16 x 16 x 3 in 4 classes" in capsys.readouterr().out
    assert main(["data", "show", "pets", "--out", str(tmp_path / "sheets")]) == 0
    assert (tmp_path / "sheets" / "pets-train.png").read_bytes().startswith(b"\x89PNG")
    assert main(["data", "verify", "pets"]) == 0
    assert "whole and unchanged" in capsys.readouterr().out
    assert main(["data", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["prepared"]["pets"]["images"] == 12
    assert main(["data", "list"]) == 0
    assert "omniglot" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["prepare", "imagenet"], "no data source called 'imagenet'"),
        (["prepare", "folder"], "folder needs --root"),
        (["prepare", "folder", "--root", "/nowhere/at/all"], "There is no /nowhere/at/all"),
        (["prepare", "folder", "--size", "0"], "--size must be from 1"),
        (["show", "nothing"], "samovar data prepare nothing"),
        (["verify", "../etc"], "not a name of a data set"),
    ],
)
def test_bad_data_commands_are_told_in_plain_words(arguments, message, capsys):
    assert main(["data", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_a_reader_that_goes_away_is_no_error():
    command = f"{sys.executable} -m samovar data list --json | true"
    for unbuffered in ("", "1"):  # noticed when the output ends, or at once
        shell = ["env", f"PYTHONUNBUFFERED={unbuffered}", "bash", "-o", "pipefail", "-c", command]
        finished = subprocess.run(shell, capture_output=True, text=True, check=False)
        assert (finished.returncode, finished.stderr) == (0, "")
