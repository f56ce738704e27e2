"""No damaged or hostile input ends in a traceback: hundreds of mutated files of every kind.

`benchmarks/hostile.py` tries ten thousand, with limits of time and memory, and kills processes.
"""

import os
import zipfile
from pathlib import Path

import pytest
from helpers_hostile import (
    KINDS,
    PLACES,
    Kind,
    flag_commands,
    fresh_copy,
    make_template,
    run_command,
)
from helpers_images import make_folder
from helpers_training import TINY
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from samovar.data.archive import Zip
from samovar.data.images.conversion import Conversion
from samovar.data.images.decode import decode, read_file
from samovar.data.npz import read_npz
from samovar.data.tar_reader import read_tar
from samovar.errors import SamovarError
from samovar.settings.data import PrepareSettings
from samovar.training.run import train

EXAMPLES = {"image": 40, "zip": 40, "tar": 15, "npz": 40, "list": 15, "task": 40, "model": 15}
EXAMPLES |= {"photo task": 20, "archive": 20, "vectors": 8, "parts": 4, "cache": 8}
EXAMPLES |= {"store": 20, "evaluation": 40, "run": 12, "metrics": 3, "checkpoint": 4}
"""How many mutated inputs of each kind are tried; a command takes between 1 and 300 ms."""
TRAININGS = ("run", "metrics", "checkpoint")

QUICK = settings(
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),  # a seed does not become simpler
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="session")
def templates(tmp_path_factory) -> dict[str, Path]:
    """A sound folder of each kind."""
    folders: dict[str, Path] = {}
    made: dict[object, Path] = {}
    for kind in KINDS:
        if kind.make not in made:  # kinds may have a folder in common
            made[kind.make] = make_template(kind, tmp_path_factory.mktemp("sound") / kind.name)
        folders[kind.name] = made[kind.make]
    return folders


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_mutated_input_is_refused_in_a_sentence_or_read(
    kind: Kind, templates, tmp_path, monkeypatch, capsys
):
    folder = tmp_path / "input"
    for name, place in PLACES.items():
        monkeypatch.setenv(name, str(folder / place))

    @settings(QUICK, max_examples=EXAMPLES[kind.name])
    @given(st.integers(0, 2**32))
    def attempt(seed: int) -> None:
        fresh_copy(templates[kind.name], folder)
        codes = run_all(kind, folder, kind.spoil(folder, seed))
        assert codes <= {0, 1, 2}
        written = capsys.readouterr()
        assert "Traceback" not in written.err
        assert len(written.err) < 20_000
        assert [path.name for path in tmp_path.iterdir()] == ["input"]

    fresh_copy(templates[kind.name], folder)
    assert run_all(kind, folder, None) == {0}, "what is sound is accepted"
    attempt()


def run_all(kind: Kind, folder: Path, spoiled: Path | None) -> set[int]:
    """Run the commands that read the spoiled file of a folder, and return their exit codes."""
    if kind.name not in TRAININGS:
        return {run_command(arguments) for arguments in kind.commands(folder, spoiled)}
    # Nine tenths of the time of `samovar train` would go into the pictures of its report.
    try:
        train(TINY, folder / "run")
    except (SamovarError, OSError):  # these are what the command line explains
        return {2}
    return {0}


@pytest.mark.slow
def test_an_absurd_flag_is_refused_in_a_sentence(tmp_path, capsys, toy_data):
    make_folder(tmp_path / "images", {"one": 100, "two": 101}, 2)

    @settings(QUICK, max_examples=60)
    @given(st.integers(0, 2**32))
    def attempt(seed: int) -> None:
        for arguments in flag_commands(tmp_path, seed):
            assert run_command(arguments) in (0, 1, 2)
            assert "Traceback" not in capsys.readouterr().err

    attempt()


def refused(call, *arguments) -> bool:
    """Whether a call refuses its arguments in a sentence."""
    try:
        call(*arguments)
    except SamovarError as error:
        return len(str(error)) < 2000
    return False


def test_what_the_review_found_is_refused(tmp_path):
    """The shrunk findings of a hostile review (see also the tests of each reader)."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name in ("pipe", "device"):
        path = tmp_path / name
        assert refused(read_file, path)
        assert refused(Zip, path)
        assert refused(read_npz, path, ("features",))
        assert refused(read_tar, path, ("train.bin",), 10**6)
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("features.npy", bytes(10**7))
    assert refused(read_npz, tmp_path / "bomb.npz", ("features",))
    (tmp_path / "sparse.png").touch()
    os.truncate(tmp_path / "sparse.png", 2**33)
    assert refused(read_file, tmp_path / "sparse.png")
    assert refused(decode, b"", "x", Conversion(8))
    assert refused(lambda: PrepareSettings(size=10**400))
