"""`samovar embed` in parts: as printed commands, and here."""

import json
import shlex

import pytest
from helpers_encoders import photo_folder, write_tiny

from samovar.cli.main import main


@pytest.fixture
def flags(tmp_path, monkeypatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    photo_folder(tmp_path / "my photos", classes=3, images=4)
    write_tiny(tmp_path / "tiny.onnx")
    return ["embed", "my photos", "--encoder", "tiny.onnx"]


def test_printed_commands_make_the_file_in_any_order_and_twice(flags, tmp_path, capsys):
    assert main([*flags, "--out", "alone.npz", "--no-cache"]) == 0
    capsys.readouterr()
    assert main([*flags, "--out", "v.npz", "--shards", "4", "--plan", "--shell"]) == 0
    commands = [shlex.split(line) for line in capsys.readouterr().out.splitlines()]
    assert len(commands) == 5
    assert not (tmp_path / "v.npz.shards").exists()
    for command in [*reversed(commands[:-1]), commands[0], commands[-1], commands[-1]]:
        assert command[0] == "samovar"
        assert main(command[1:]) == 0
    assert (tmp_path / "v.npz").read_bytes() == (tmp_path / "alone.npz").read_bytes()
    assert not (tmp_path / "v.npz.shards").exists()


def test_parts_that_are_there_are_not_made_again(flags, tmp_path, capsys):
    assert main([*flags, "--out", "v.npz", "--shards", "3", "--plan"]) == 0
    first = shlex.split(capsys.readouterr().out.splitlines()[0])[1:]
    assert main([*first, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["images"] == 4
    assert main([*first, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["already_there"]
    assert main([*flags, "--out", "v.npz", "--shards", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["images"] == 12


def test_images_that_cannot_be_read_are_named_and_the_code_is_one(flags, tmp_path, capsys):
    (tmp_path / "my photos" / "class 0" / "0.png").write_bytes(b"no image")
    assert main([*flags, "--out", "v.npz", "--shards", "12", "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["images"] == 11
    assert "0.png" in captured.err


def test_skipped_images_are_the_same_in_parts_and_alone(flags, tmp_path):
    (tmp_path / "my photos" / "class 0" / "0.png").write_bytes(b"no image")
    assert main([*flags, "--out", "alone.npz", "--no-cache"]) == 1
    assert main([*flags, "--out", "v.npz", "--shards", "3"]) == 1
    assert (tmp_path / "v.npz").read_bytes() == (tmp_path / "alone.npz").read_bytes()


def test_more_parts_than_images_are_as_many_as_images(flags, capsys):
    assert main([*flags, "--out", "v.npz", "--shards", "99", "--plan"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 13


def test_the_name_of_the_output_is_checked_before_anything_runs(flags, capsys):
    assert main([*flags, "--out", "vectors", "--shards", "2"]) == 2
    assert "ends with .npz" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        (["--shards", "0"], "--shards must be at least 1"),
        (["--shards", "2", "--shard", "1/2"], "--shard makes one part"),
        (["--ray", "local", "--slurm", "local"], "Choose one"),
    ],
)
def test_wishes_that_contradict_each_other_are_refused(wish, sentence, flags, capsys):
    assert main([*flags, "--out", "v.npz", *wish]) == 2
    assert sentence in capsys.readouterr().err
