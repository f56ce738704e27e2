"""Damaged and hostile files of every kind: what the fuzz test and `benchmarks/hostile.py` share.

A kind of input is a small sound folder, the files in it that are mutated, and the commands that
read them. A mutation is a function of the file's bytes and a seed.
"""

import contextlib
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from helpers import image_model, keep_evaluation, make_store
from helpers_images import encode, glyph, make_folder
from helpers_sources import make_cifar, make_omniglot
from helpers_training import TINY, command, make_toy_data, stop_at
from PIL import Image

from samovar.artifacts.saved_model import save_model
from samovar.cli.main import main
from samovar.core.progress import silent
from samovar.encoders.embedding import _Work
from samovar.encoders.image_list import fingerprint_images, list_images
from samovar.encoders.registry import find_encoder
from samovar.training.run import train

NUMBERS = (
    b"-1", b"0", b"1e999", b"-0.0", b"NaN", b"Infinity", b"1" + b"0" * 400, b"9223372036854775808",
    b"1e-320", b"true", b"null", b'"x"', b"[]", b"{}", b"0.5",
)  # fmt: skip
TEXTS = (b'""', b'"\\udcff"', b'"../../x"', b'"\\u001b[31m"', b'"[/red]"', b"3", b"null", b"[1]")
BINARY = (b"\xff" * 4, b"\x00" * 4, b"\x80\x00\x00\x00", b"\x7f\xff\xff\xff", b"\xff" * 8)
FLAGS = (
    "-1", "0", "1e999", "nan", "inf", "-inf", "1" + "0" * 400, "9223372036854775808", "1e-320",
    "4294967296", "", "x", "\x1b[31m", "[/red]", "0.5", "--", "-", "1,2", "\udcff", "/", "1_000",
)  # fmt: skip


PLACES = {"SAMOVAR_DATA": "data", "SAMOVAR_CACHE": "cache"}
LINKS = ("/dev/zero", "/dev/full", "/proc/self/mem", "{name}", "nowhere", "..")
"""Where links lead that are put in the place of files; the fourth leads to itself."""
LARGE = ("-1", "nan", "inf", "1e999", "1" + "0" * 400, "9223372036854775808", "", "x")


def mutate(content: bytes, seed: int) -> bytes:
    """Return the bytes with one to three mutations, the same ones for the same seed."""
    noise = random.Random(seed)
    for _ in range(noise.choice((1, 1, 2, 3))):
        content = noise.choice(MUTATIONS)(content, noise)
    return content


def _flip(content: bytes, noise: random.Random) -> bytes:
    if not content:
        return content
    position = noise.randrange(len(content))
    changed = content[position] ^ 1 << noise.randrange(8)
    return content[:position] + bytes([changed]) + content[position + 1 :]


def _overwrite(content: bytes, noise: random.Random) -> bytes:
    # The beginning has the headers, where numbers matter most.
    end = noise.choice((len(content), min(len(content), 64)))
    position = noise.randrange(end + 1)
    piece = noise.choice(BINARY)
    return content[:position] + piece + content[position + len(piece) :]


def _cut(content: bytes, noise: random.Random) -> bytes:
    return content[: noise.randrange(len(content) + 1)]


def _repeat(content: bytes, noise: random.Random) -> bytes:
    first, second = sorted(noise.randrange(len(content) + 1) for _ in range(2))
    return content[:second] + content[first:second] * noise.choice((1, 2, 20)) + content[second:]


def _remove(content: bytes, noise: random.Random) -> bytes:
    first, second = sorted(noise.randrange(len(content) + 1) for _ in range(2))
    return content[:first] + content[second:]


def _insert(content: bytes, noise: random.Random) -> bytes:
    position = noise.randrange(len(content) + 1)
    piece = noise.choice((b"\xff", b"\0", b"[" * 3000, b"{", b"\n", b'"', noise.randbytes(20)))
    return content[:position] + piece + content[position:]


def _replace(pattern: bytes, values: tuple[bytes, ...]) -> Callable[[bytes, random.Random], bytes]:
    """Return a mutation that puts something else in the place of a value of JSON."""

    def replace(content: bytes, noise: random.Random) -> bytes:
        matches = list(re.finditer(pattern, content[:200_000]))
        if not matches:
            return content
        match = noise.choice(matches)
        return content[: match.start()] + noise.choice(values) + content[match.end() :]

    return replace


_number = _replace(rb"-?\d+(\.\d+)?([eE][-+]?\d+)?", NUMBERS)
_text = _replace(rb'"[^"\\]{0,80}"', TEXTS)
MUTATIONS = (_flip, _overwrite, _cut, _repeat, _remove, _insert, _number, _number, _text)


@dataclass(frozen=True)
class Kind:
    """A kind of input."""

    name: str
    make: Callable[[Path], None]
    """Makes a sound folder."""
    files: tuple[str, ...]
    """Patterns of the files that are mutated."""
    commands: Callable[[Path, Path | None], list[list[str]]]
    """The commands that read the spoiled file of a folder, or with None all of its files.

    The data folder is its folder `data`, the cache its folder `cache`.
    """
    typed: bool = False
    """It is a file of our own, read by the typed reader."""
    cost: int = 1
    """How rarely it is tried, since it is slow."""

    def spoil(self, folder: Path, seed: int) -> Path:
        """Mutate one of the files of a folder, or put something else in its place; return it."""
        paths: list[Path] = []
        for pattern in self.files:
            paths += sorted(folder.glob(pattern))
        noise = random.Random(seed)
        path = noise.choice(paths)
        if noise.random() < 0.05:
            _put_something_else(path, noise)
        else:
            path.write_bytes(mutate(path.read_bytes(), seed))
        return path


def _put_something_else(path: Path, noise: random.Random) -> None:
    """Put what is no sound file in the place of a file."""
    path.unlink()
    choice = noise.randrange(len(LINKS) + 4)
    if choice == 0:
        os.mkfifo(path)
    elif choice == 1:
        path.mkdir()
    elif choice == 2:
        path.touch()
        os.truncate(path, 2**40)  # a terabyte that takes no space
    elif choice > 3:  # at 3 it is missing
        path.symlink_to(LINKS[choice - 4].format(name=path.name))


def run_command(arguments: list[str]) -> int:
    """Run a command in this process and return its exit code."""
    try:
        return main(arguments)
    except SystemExit as stop:  # tyro ends the process when it does not understand a flag
        return stop.code if isinstance(stop.code, int) else 2


def _make_task(folder: Path) -> None:
    make_folder(folder / "support", {"one": 100, "two": 101}, 3)
    glyph(100, 9).save(folder / "query.png")
    fit = ["fit", "--model", "glyphs", "--support", str(folder / "support")]
    assert run_command([*fit, "--task", str(folder / "t.safetensors")]) == 0


def _make_images(folder: Path) -> None:
    _make_task(folder)
    (folder / "query.png").unlink()
    picture = Image.merge("RGB", [glyph(100, 9)] * 3)
    for kind in ("PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF"):
        (folder / f"query.{kind.lower()}").write_bytes(encode(picture, kind))
    progressive = encode(picture, "JPEG", progressive=True)
    (folder / "query.jpg").write_bytes(progressive)
    deep = Image.fromarray(np.arange(1600, dtype=np.uint16).reshape(40, 40) * 40)
    (folder / "query.tif").write_bytes(encode(deep, "TIFF"))


def _predict(folder: Path, spoiled: Path | None) -> list[list[str]]:
    images = [str(path) for path in sorted(folder.glob("query.*"))]
    if spoiled is not None and spoiled.name.startswith("query."):
        images = [str(spoiled)]
    return [["predict", str(folder / "t.safetensors"), *images, "--json"]]


def _task_commands(folder: Path, spoiled: Path | None) -> list[list[str]]:
    return [["task", str(folder / "t.safetensors")], *_predict(folder, spoiled)]


def _make_photo_task(folder: Path) -> None:
    make_folder(folder / "support", {"one": 100, "two": 101}, 3)
    make_folder(folder / "more", {"three": 102}, 1)
    glyph(100, 9).save(folder / "query.png")
    task = ["--task", str(folder / "t.safetensors")]
    assert run_command(["fit", "--support", str(folder / "support"), *task]) == 0
    _add_to_task(folder.parent, folder)  # all vectors are in the cache now


def _add_to_task(place: Path, folder: Path) -> None:
    """Add images to a copy of the task of a folder."""
    task = shutil.copy(folder / "t.safetensors", place / "copy.safetensors")
    fit = ["fit", "--add", "--support", str(folder / "more"), "--task", str(task)]
    assert run_command(fit) == 0
    assert run_command(["predict", str(task), str(folder / "query.png")]) == 0
    Path(task).unlink()


def _photo_task_commands(folder: Path, spoiled: Path | None) -> list[list[str]]:
    task = str(folder / "t.safetensors")
    add = ["fit", "--add", "--support", str(folder / "more"), "--task", task]
    return [*_task_commands(folder, spoiled), add]


def _make_archive(folder: Path) -> None:
    make_folder(folder / "images", {"one": 100, "two": 101}, 3)
    shutil.make_archive(str(folder / "photos"), "zip", folder / "images")
    lines = [f"images/{name}/{number}.png\t{name}" for name in ("one", "two") for number in (0, 1)]
    (folder / "photos.txt").write_text("\n".join(lines))


def _archive_commands(folder: Path, spoiled: Path | None) -> list[list[str]]:
    places = [folder / "photos.zip", folder / "photos.txt"]
    if spoiled is not None:
        places = [spoiled]
    commands = []
    for place in places:
        task = str(folder / f"{place.suffix}.safetensors")
        fit = ["fit", "--model", "glyphs", "--support", str(place), "--task", task]
        commands += [fit, ["score", task, str(place)]]
    return commands


def _make_vectors(folder: Path) -> None:
    make_folder(folder / "images", {"one": 100, "two": 101}, 2)
    assert run_command(_embed(folder)) == 0


def _embed(folder: Path) -> list[str]:
    return ["embed", str(folder / "images"), "--out", str(folder / "v.npz")]


def _vector_commands(folder: Path, spoiled: Path | None) -> list[list[str]]:
    features = ["data", "prepare", "features", "--root", str(folder / "v.npz")]
    # First, since `embed` makes a sound file again.
    return [features, _embed(folder)]


def _make_parts(folder: Path) -> None:
    """Make what an `embed` leaves behind that is killed before it writes its file."""
    _make_vectors(folder)
    (folder / "v.npz").unlink()
    images = list_images(folder / "images")
    encoder = find_encoder("efficientnet_lite0")
    inputs = f"{encoder.identity} float32 {fingerprint_images(images)}"
    work = _Work(images, encoder, folder / "v.npz", inputs)
    work.make_chunks(None, silent)
    assert (folder / "v.npz.parts").is_dir()


def _parts_commands(folder: Path, spoiled: Path | None) -> list[list[str]]:
    return [_embed(folder)]


def _make_model(folder: Path) -> None:
    make_folder(folder / "support", {"one": 100, "two": 101}, 3)
    glyph(100, 9).save(folder / "query.png")
    save_model(image_model(), folder / "model")


def _model_commands(folder: Path, spoiled: Path | None) -> list[list[str]]:
    fit = ["fit", "--model", str(folder / "model"), "--support", str(folder / "support")]
    return [[*fit, "--task", str(folder / "t.safetensors")], *_predict(folder, spoiled)]


def _make_features(folder: Path) -> None:
    noise = np.random.default_rng(0)
    labels = np.repeat(["ant", "bee", "cat", "dog"], 5)
    np.savez(folder / "v.npz", features=noise.normal(size=(20, 7)), labels=labels)
    np.savez_compressed(folder / "w.npz", features=noise.normal(size=(20, 7)), labels=labels)
    np.save(folder / "features.npy", noise.normal(size=(20, 7)))
    np.save(folder / "labels.npy", labels)


def _feature_commands(folder: Path, spoiled: Path | None) -> list[list[str]]:
    roots = [folder / "v.npz", folder / "w.npz", folder]
    if spoiled is not None:
        roots = [spoiled if spoiled.suffix == ".npz" else folder]
    return [["data", "prepare", "features", "--root", str(root)] for root in roots]


def _source_commands(name: str) -> Callable[[Path, Path | None], list[list[str]]]:
    return lambda folder, _: [["data", "prepare", name, "--root", str(folder)]]


def _make_zip(folder: Path) -> None:
    make_omniglot(folder)


def _make_tar(folder: Path) -> None:
    make_cifar(folder)


def _make_store(folder: Path) -> None:
    split = {"train": ["class 0", "class 1"], "val": [], "test": ["class 2"]}
    make_store(folder / "data", [3, 4, 5], (6, 6, 3), split)


def _store_commands(folder: Path, spoiled: Path | None) -> list[list[str]]:
    show = ["data", "show", "toy", "--out", str(folder / "out")]
    return [["data", "list"], ["data", "list", "--json"], ["data", "verify", "toy"], show]


def _make_run(folder: Path) -> None:
    make_toy_data(folder / "data")
    try:
        train(TINY, folder / "run", watch=stop_at(8))
    except KeyboardInterrupt:
        return


def _run_commands(folder: Path, spoiled: Path | None) -> list[list[str]]:
    return [command(TINY, folder / "run")[3:]]


def _make_evaluations(folder: Path) -> None:
    noise = np.random.default_rng(0)
    for name in ("first", "second"):
        keep_evaluation(folder / name, noise.random(30))


def _compare(folder: Path, spoiled: Path | None) -> list[list[str]]:
    out = ["--out", str(folder / "out")]
    return [["compare", str(folder / "first"), str(folder / "second"), *out]]


def _make_list(folder: Path) -> None:
    make_folder(folder / "images", {"one": 100, "two": 101}, 2)
    lines = [f"images/{name}/{number}.png" for name in ("one", "two") for number in range(2)]
    (folder / "list.txt").write_text("\n".join(lines))
    (folder / "split.json").write_text('{"train": ["one"], "val": [], "test": ["two"]}')


def _list_commands(folder: Path, spoiled: Path | None) -> list[list[str]]:
    images = ["--root", str(folder / "images"), "--size", "8"]
    split = ["data", "prepare", "folder", *images, "--split-file", str(folder / "split.json")]
    embed = ["embed", str(folder / "list.txt"), "--out", str(folder / "v.npz")]
    if spoiled is None:
        return [split, embed]
    return [split if spoiled.suffix == ".json" else embed]


KINDS = (
    Kind("image", _make_images, ("query.*",), _predict),
    Kind("zip", _make_zip, ("*.zip",), _source_commands("omniglot")),
    Kind("tar", _make_tar, ("*.tar.gz",), _source_commands("cifar_fs"), cost=2),
    Kind("npz", _make_features, ("*.np?",), _feature_commands),
    Kind("list", _make_list, ("list.txt", "split.json"), _list_commands),
    Kind("task", _make_task, ("t.safetensors",), _task_commands, typed=True),
    Kind("photo task", _make_photo_task, ("t.safetensors",), _photo_task_commands, typed=True),
    Kind("archive", _make_archive, ("photos.*",), _archive_commands),
    Kind("vectors", _make_vectors, ("v.npz",), _vector_commands, typed=True, cost=2),
    Kind("parts", _make_parts, ("v.npz.parts/*",), _parts_commands, typed=True, cost=2),
    Kind("cache", _make_photo_task, ("cache/*",), _predict, typed=True, cost=2),
    Kind("model", _make_model, ("model/*",), _model_commands, typed=True),
    Kind("store", _make_store, ("data/toy/*",), _store_commands, typed=True),
    Kind("evaluation", _make_evaluations, ("first/*", "second/*"), _compare, typed=True),
    Kind("run", _make_run, ("run/config.json",), _run_commands, typed=True, cost=8),
    Kind("metrics", _make_run, ("run/metrics.jsonl",), _run_commands, typed=True, cost=8),
    Kind("checkpoint", _make_run, ("run/checkpoints/*",), _run_commands, typed=True, cost=8),
)


def flag_commands(folder: Path, seed: int) -> list[list[str]]:
    """Return a command with an absurd value for one of its flags; none of them takes long."""
    noise = random.Random(seed)
    images = str(folder / "images")
    small = ["--root", images, "--size", "8"]
    fit = ["fit", "--model", "glyphs", "--support", images, "--task", str(folder / "t.safetensors")]
    study = ["synthetic", "--seeds", "1", "--steps", "2", "--out", str(folder / "study")]
    choices: list[tuple[list[str], tuple[str, ...]]] = [
        (fit, ("--samples", "--seed", "--reject", "--device", "--model")),
        (["data", "prepare", "folder", *small], ("--size", "--seed", "--colour", "--store")),
        (["data", "show", "toy", "--out", str(folder)], ("--classes", "--seed", "--split")),
        (["embed", images, "--out", str(folder / "v.npz")], ("--shard", "--dtype")),
        (["presets"], ("--json", "--x")),
        (["task"], ("--json",)),
        (["compare", images, images], ("--seed", "--first-by")),
    ]
    # What these accept is a long training or study.
    refused: list[tuple[list[str], tuple[str, ...]]] = [
        (command(TINY, folder / "run")[3:], ("--updates", "--tasks", "--model.width")),
        (command(TINY, folder / "run")[3:], ("--optimizer.learning-rate", "--validation.samples")),
        (study, ("--tasks", "--samples", "--sigma-y", "--steps")),
    ]
    values = FLAGS
    if noise.random() < 0.3:
        choices = refused
        values = LARGE
    start, flags = noise.choice(choices)
    return [[*start, noise.choice(flags), noise.choice(values)]]


@contextlib.contextmanager
def places_in(folder: Path) -> Iterator[None]:
    """Let data and caches be in a folder."""
    former = {name: os.environ.get(name) for name in PLACES}
    for name, place in PLACES.items():
        os.environ[name] = str(folder / place)
    yield
    for name, value in former.items():
        os.environ.pop(name)
        if value is not None:
            os.environ[name] = value


def make_template(kind: Kind, folder: Path) -> Path:
    """Make the sound folder of a kind and return it."""
    folder.mkdir(parents=True)
    with places_in(folder):
        kind.make(folder)
    return folder


def fresh_copy(template: Path, folder: Path) -> Path:
    """Return a copy of a sound folder."""
    shutil.rmtree(folder, ignore_errors=True)
    return shutil.copytree(template, folder)
