"""Bad input is named with its remedy and leaves no store."""

import gzip
import lzma
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers import make_store
from helpers_sources import make_cifar, make_folder, make_miniimagenet, make_omniglot, picture

from samovar.data.preparation import list_stores, prepare, ready
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def bad_inputs(root: Path) -> dict[str, tuple[str, Path, str]]:
    """Name -> (source, root, words that the error must have); made on demand."""
    cases: dict[str, tuple[str, Path, str]] = {}

    def case(name: str) -> Path:
        (root / name).mkdir()
        return root / name

    folder = case("cut archive")
    path = make_cifar(folder)
    path.write_bytes(path.read_bytes()[:-2000])
    cases["cut archive"] = ("cifar_fs", folder, "cifar-100-binary.tar.gz is damaged")
    folder = case("not an archive")
    write(folder / "cifar-100-binary.tar.gz", b"<html>404</html>")
    cases["not an archive"] = (
        "cifar_fs",
        folder,
        "is damaged or not of the type that its name says",
    )
    folder = case("cut records")
    make_cifar(folder, cut=5)
    cases["cut records"] = ("cifar_fs", folder, "test.bin .* is cut short")
    folder = case("other class names")
    make_cifar(folder, names=[f"x{i}" for i in range(100)])
    cases["other class names"] = ("fc100", folder, "not those of CIFAR-100")
    folder = case("few superclasses")
    make_cifar(folder, groups=3)
    cases["few superclasses"] = ("cifar_fs", folder, "not those of CIFAR-100")
    cases["nothing there"] = ("omniglot", case("empty"), "images_background.zip is not there")
    folder = case("cut zip")
    make_omniglot(folder)
    path = folder / "images_evaluation.zip"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    cases["cut zip"] = ("omniglot", folder, "images_evaluation.zip is damaged")
    for name, entry in (
        ("climbing", "../../evil.png"),
        ("absolute", "/etc/evil.png"),
        ("windows", "C:\\evil.png"),
    ):
        folder = case(f"zip entry {name}")
        make_omniglot(folder, {entry: picture()})
        cases[f"zip entry {name}"] = ("omniglot", folder, "points outside it")
    folder = case("broken drawing")
    make_omniglot(folder, {"images_background/Arcadian/character01/9.png": b"text"})
    cases["broken drawing"] = ("omniglot", folder, "9.png is not an image")
    folder = case("csv")
    make_miniimagenet(folder, missing="n0153282900000001")
    cases["csv names a missing image"] = (
        "miniimagenet",
        folder,
        "train.csv names n0153282900000001.jpg",
    )
    folder = case("csv columns")
    make_miniimagenet(folder)
    write(folder / "val.csv", b"a,b\n1,2\n")
    cases["csv without columns"] = ("miniimagenet", folder, "columns filename and label")
    folder = case("csv huge")
    make_miniimagenet(folder)
    write(folder / "val.csv", b"filename,label\n" + b"x" * 200_000)
    cases["csv with a huge field"] = ("miniimagenet", folder, "val.csv cannot be read")
    folder = case("csv twice")
    make_miniimagenet(folder)
    write(folder / "val.csv", (folder / "train.csv").read_bytes())
    cases["class in two csv files"] = ("miniimagenet", folder, "also in train.csv")
    cases["no download"] = ("miniimagenet", case("empty mini"), "cannot be downloaded freely")
    folder = make_folder(case("text as jpg"), ["a", "b"])
    write(folder / "a" / "z.jpg", b"hello")
    cases["text as jpg"] = ("folder", folder, r"a/z.jpg is not an image")
    folder = make_folder(case("empty class"), ["a", "b"])
    (folder / "c").mkdir()
    cases["empty class"] = ("folder", folder, "empty class/c has no images")
    folder = case("class twice")
    make_folder(folder / "train", ["a", "b"])
    make_folder(folder / "test", ["b", "c"])
    cases["class twice"] = ("folder", folder, "two classes called 'b'")
    folder = make_folder(case("link"), ["a", "b"])
    (folder / "a" / "out.png").symlink_to(write(root / "secret.png", picture()))
    cases["link out of the folder"] = ("folder", folder, "link to a place outside")
    folder = make_folder(case("class link"), ["a", "b"])
    (folder / "c").symlink_to(make_folder(root / "elsewhere", ["c", "d"]) / "c")
    cases["linked class"] = ("folder", folder, "link to a place outside")
    folder = make_folder(case("part link") / "val", ["a", "b"]).parent
    (folder / "train").symlink_to(root / "elsewhere")
    cases["linked part"] = ("folder", folder, "link to a place outside")
    content = bytearray(lzma.compress(gzip.decompress(make_cifar(case("lzma")).read_bytes())))
    content[len(content) // 2] ^= 255
    write(root / "lzma" / "cifar-100-binary.tar.gz", bytes(content))
    cases["damaged lzma"] = ("cifar_fs", root / "lzma", "is damaged")
    cases["empty folder"] = ("folder", case("no classes"), "one folder per class")
    cases["no folder"] = ("folder", root / "nowhere", "nowhere does not exist")
    numbers, labels = np.zeros((4, 3)), np.arange(4)
    for name, arrays, words in (
        (
            "nan",
            {"features": np.where(np.eye(4, 3) > 0, np.nan, numbers), "labels": labels},
            "not finite float32 numbers; the first is row 0",
        ),
        (
            "overflow",
            {"features": numbers + 1e39, "labels": labels},
            "not finite float32 numbers; the first is row 0",
        ),
        (
            "lengths",
            {"features": numbers, "labels": labels[:3]},
            r"features \(4, 3\) and labels \(3,\)",
        ),
        ("no labels", {"features": numbers}, "cannot be read"),
        (
            "objects",
            {"features": numbers, "labels": np.array([1, "a", None, 2], object)},
            "cannot be read",
        ),
    ):
        np.savez(root / f"{name}.npz", **arrays, allow_pickle=True)
        cases[f"features {name}"] = ("features", root / f"{name}.npz", words)
    np.savez(root / "cut.npz", features=np.ones((40, 30)), labels=np.arange(40))
    write(root / "cut.npz", (root / "cut.npz").read_bytes()[:5000])
    cases["cut npz"] = ("features", root / "cut.npz", "cut.npz cannot be read")
    cases["no npz"] = ("features", write(root / "text.npz", b"text"), "cannot be read")
    return cases


NAMES_OF_BAD_INPUTS = [
    "cut archive", "not an archive", "cut records", "other class names", "few superclasses",
    "nothing there", "cut zip", "zip entry climbing", "zip entry absolute", "zip entry windows",
    "broken drawing", "csv names a missing image", "csv without columns", "csv with a huge field",
    "class in two csv files", "no download", "text as jpg", "empty class", "class twice",
    "link out of the folder", "linked class", "linked part", "damaged lzma", "empty folder",
    "no folder", "features overflow", "features nan", "features lengths", "features no labels",
    "features objects", "cut npz", "no npz",
]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return bad_inputs(tmp_path_factory.mktemp("bad"))


@pytest.mark.parametrize("name", NAMES_OF_BAD_INPUTS)
def test_bad_input_is_named_with_its_remedy_and_leaves_no_store(made, name, data_folder):
    assert set(made) == set(NAMES_OF_BAD_INPUTS)
    source, root, words = made[name]
    with pytest.raises(DataError, match=words):
        prepare(source, root)
    assert not (data_folder / source).exists()


def test_unknown_source_and_bad_names(tmp_path):
    with pytest.raises(DataError, match="Available sources: glyphs, omniglot"):
        prepare("imagenet")
    for name in ("../x", "*", ".x"):
        with pytest.raises(DataError, match="cannot be the name"):
            prepare("folder", tmp_path, store_name=name)
    with pytest.raises(DataError, match="fractions of train"):
        prepare(
            "folder",
            make_folder(tmp_path / "own", ["a", "b"]),
            PrepareSettings(fractions=(1e308, 1e308, 1e308)),
        )
    with pytest.raises(DataError, match="needs --root"):
        prepare("folder")
    for kept in ("downloads", "cifar_fs"):
        with pytest.raises(DataError, match="is reserved"):
            prepare("folder", tmp_path, store_name=kept)


def test_stores_are_listed_without_torch_and_without_matplotlib(data_folder):
    """`samovar data list` should answer at once; also through the door of the package."""
    make_store(data_folder, [2, 3])
    script = """
import sys
from samovar.data.sources.base import Source
from samovar.data.preparation import list_stores, prepare
from samovar.data.sources.registry import register_source
from samovar.data.sources.registry import REGISTRY
assert list(list_stores()) == ["toy"] and "glyphs" in REGISTRY
heavy = {"torch", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_damaged_stores_are_listed_with_their_error_and_other_things_are_not(data_folder):
    make_store(data_folder, [2, 2], name="good")
    broken = make_store(data_folder, [2, 2], name="broken")
    (broken.folder / "store.json").write_text("{")
    (data_folder / "downloads").mkdir()
    (data_folder / "notes.txt").touch()
    stores = list_stores()
    assert list(stores) == ["broken", "good"]
    assert isinstance(stores["broken"], DataError)
    assert len(stores["good"].array) == 4
    assert list_stores(data_folder / "nowhere") == {}


def test_ready_opens_what_is_prepared_and_names_what_there_is(data_folder):
    make_store(data_folder, [2, 2])
    assert ready("toy").name == "toy"
    with pytest.raises(DataError, match="no prepared data set called 'pets', and no source"):
        ready("pets")


def test_a_damaged_store_is_prepared_again(tmp_path):
    root = make_folder(tmp_path / "own", ["a", "b"])
    store = prepare("folder", root, PrepareSettings(size=8))
    (store.folder / "store.json").write_text("{")
    with pytest.raises(DataError, match="needs --root"):
        prepare("folder")
    assert len(prepare("folder", root, PrepareSettings(size=8)).array) == 4
