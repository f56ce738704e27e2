"""`samovar embed` writes vectors that `samovar data prepare features` takes."""

import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from helpers_encoders import photo_folder, write_tiny

from samovar.cli.main import main
from samovar.data.store import open_store


@pytest.fixture
def encoder(tmp_path) -> str:
    return str(write_tiny(tmp_path / "tiny.onnx"))


def embed(folder, encoder, out, *flags):
    return main(["embed", str(folder), "--encoder", encoder, "--out", str(out), *flags])


def test_vectors_can_be_prepared_as_features(tmp_path, encoder, capsys):
    folder = photo_folder(tmp_path / "photos", classes=5)
    out = tmp_path / "photos.npz"
    assert embed(folder, encoder, out) == 0
    assert "20 images by tiny.onnx" in capsys.readouterr().out
    assert main(["data", "prepare", "features", "--root", str(out)]) == 0
    assert "20 vectors of 5 in 5 classes" in capsys.readouterr().out


def test_the_summary_is_json_and_the_second_time_nothing_is_done(tmp_path, encoder, capsys):
    folder = photo_folder(tmp_path / "photos")
    out = tmp_path / "photos.npz"
    assert embed(folder, encoder, out, "--json") == 0
    first = json.loads(capsys.readouterr().out)
    assert (first["images"], first["classes"], first["already_there"]) == (12, 3, False)
    assert first["encoder"]["name"] == "tiny.onnx"
    assert 0 < first["cache"]["bytes"] <= first["cache"]["limit"]
    assert embed(folder, encoder, out, "--json") == 0
    assert json.loads(capsys.readouterr().out)["already_there"]


def test_the_built_in_encoder_is_the_default(tmp_path, capsys):
    folder = photo_folder(tmp_path / "photos", classes=1, images=2)
    assert main(["embed", str(folder), "--out", str(tmp_path / "v.npz"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["encoder"]["name"] == "efficientnet_lite0"
    assert np.load(tmp_path / "v.npz")["features"].shape == (2, 1280)


def test_without_the_cache_nothing_is_kept(tmp_path, encoder, cache_folder, capsys):
    folder = photo_folder(tmp_path / "photos")
    assert embed(folder, encoder, tmp_path / "v.npz", "--no-cache", "--json") == 0
    assert json.loads(capsys.readouterr().out)["cache"] is None
    assert list(cache_folder.iterdir()) == []


def test_unreadable_images_are_named_and_the_exit_code_is_one(tmp_path, encoder, capsys):
    folder = photo_folder(tmp_path / "photos")
    (folder / "class 0" / "1.png").write_bytes(b"broken")
    for _ in range(2):
        assert embed(folder, encoder, tmp_path / "v.npz") == 1
        assert "1.png is not an image" in capsys.readouterr().err
    assert len(np.load(tmp_path / "v.npz")["features"]) == 11


def test_shards_of_a_zip_are_parts(tmp_path, encoder):
    folder = photo_folder(tmp_path / "photos")
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        for image in sorted(folder.rglob("*.png")):
            archive.write(image, image.relative_to(tmp_path).as_posix())
    paths = []
    for number in (1, 2):
        out = tmp_path / f"{number}.npz"
        assert embed(tmp_path / "photos.zip", encoder, out, "--shard", f"{number}/2") == 0
        paths += np.load(out)["paths"].tolist()
    assert paths == sorted(paths)
    assert len(set(paths)) == 12


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--encoder", "magic"], "There is no encoder 'magic'"),
        (["--shard", "9/4"], "i/n"),
        (["--preprocessing", "clip"], "has its own preprocessing"),
        (["--out", "vectors.txt"], ".npz"),
    ],
)
def test_bad_flags_are_explained(flags, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = photo_folder(tmp_path / "photos", 1, 1)
    assert main(["embed", str(folder), "--out", "v.npz", *flags]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_a_killed_command_goes_on_where_it_stopped(tmp_path, encoder, capsys):
    """The process kills itself, without any cleaning up, when the second chunk is written."""
    folder = photo_folder(tmp_path / "photos")
    out = tmp_path / "v.npz"
    script = """
import os, signal, sys
from samovar.cli.main import main
from samovar.encoders import embedding
embedding.CHUNK = 5
write = embedding.write_whole
def write_and_die(path, content):
    write(path, content)
    if path.name == "000000005.npz":
        os.kill(os.getpid(), signal.SIGKILL)
embedding.write_whole = write_and_die
main(sys.argv[1:])
"""
    command = ["embed", str(folder), "--encoder", encoder, "--out", str(out), "--no-cache"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    process = subprocess.run(
        [sys.executable, "-c", script, *command], env=environment, capture_output=True
    )
    assert process.returncode == -signal.SIGKILL
    assert not out.exists()
    assert len(list((tmp_path / "v.npz.parts").glob("0*.npz"))) == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("samovar.encoders.embedding.CHUNK", 5)
        assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["resumed"] == 10
    assert len(np.load(out)["features"]) == 12


def test_the_split_of_a_folder_is_kept(tmp_path, encoder, capsys):
    for split, classes in (("train", 3), ("val", 2), ("test", 2)):
        folder = photo_folder(tmp_path / "photos" / split, classes, 2)
        for path in sorted(folder.iterdir()):
            path.rename(folder / f"{split} {path.name}")
    out = tmp_path / "v.npz"
    assert embed(tmp_path / "photos", encoder, out) == 0
    assert set(np.load(out)["split"].tolist()) == {"train", "val", "test"}
    assert main(["data", "prepare", "features", "--root", str(out)]) == 0
    splits = open_store("features").facts["splits"]["own"]
    assert [len(splits[split]) for split in ("train", "val", "test")] == [3, 2, 2]


def test_what_is_left_out_is_counted(tmp_path, encoder, capsys):
    folder = photo_folder(tmp_path / "photos", classes=2)
    (folder / "class 0" / "notes.txt").write_text("none")
    assert embed(folder, encoder, tmp_path / "v.npz") == 0
    assert "left out: 1 .txt file." in capsys.readouterr().err
