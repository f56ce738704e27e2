"""`samovar data` prepares, shows, verifies and lists, and explains mistakes."""

import json
import subprocess
import sys

import pytest
from helpers_images import has_color
from PIL import Image

from samovar.cli.main import main


def test_data_from_prepare_to_verify(tmp_path, capsys):
    """A folder of images through all four data commands."""
    for name in ("ant", "bee", "cat [bold]", "dog\nrow"):
        (tmp_path / "own" / name).mkdir(parents=True)
        for shade in (0, 100, 200):
            Image.new("RGB", (20, 16), (shade, 0, 0)).save(tmp_path / "own" / name / f"{shade}.png")
    root = str(tmp_path / "own")
    assert (
        main(["data", "prepare", "folder", "--root", root, "--store", "pets", "--size", "16"]) == 0
    )
    assert "pets: 12 images of 16 x 16 x 3 in 4 classes" in capsys.readouterr().out
    assert main(["data", "show", "pets", "--out", str(tmp_path / "sheets")]) == 0
    sheet = (tmp_path / "sheets" / "pets-train.png").read_bytes()
    assert has_color(sheet, "#640000"), "the shade of the second image"
    assert main(["data", "verify", "pets"]) == 0
    assert "complete and unchanged" in capsys.readouterr().out
    assert main(["data", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["prepared"]["pets"]["images"] == 12
    assert main(["data", "list"]) == 0
    out = capsys.readouterr().out
    assert "Cite omniglot: B. Lake" in out
    assert "Cite folder" not in out, "there is nothing to cite for one's own data"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["prepare", "imagenet"], "no data source called 'imagenet'"),
        (["prepare", "folder"], "folder needs --root"),
        (["prepare", "folder", "--root", "/nowhere/at/all"], "/nowhere/at/all does not exist"),
        (["prepare", "folder", "--size", "0"], "--size must be from 1"),
        (["show", "glyfs"], "Did you mean glyphs?"),
        (["show", "nothing"], "There is no data called 'nothing'"),
        (["verify", "../etc"], "not the name of a data set"),
    ],
)
def test_bad_data_commands_are_told_in_plain_words(arguments, message, capsys):
    assert main(["data", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


@pytest.mark.slow
@pytest.mark.usefixtures("toy_data")
def test_listing_data_loads_neither_torch_nor_matplotlib():
    script = """
import sys
from samovar.cli.main import main
assert main(["data", "list", "--json"]) == 0
heavy = {"torch", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
"""
    finished = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert json.loads(finished.stdout)["prepared"]["toy"]["classes"] == 12


def test_data_without_a_command_explains_its_commands(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["data"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    for name in ("list", "prepare", "show", "verify"):
        assert name in out


@pytest.mark.usefixtures("toy_data")
def test_a_damaged_data_set_is_listed_with_what_is_wrong(data_folder, capsys):
    (data_folder / "toy" / "store.json").write_text("{}")
    assert main(["data", "list", "--json"]) == 0
    assert "Prepare it again" in json.loads(capsys.readouterr().out)["prepared"]["toy"]["error"]
    assert main(["data", "verify", "toy"]) == 2
