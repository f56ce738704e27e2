"""Every source through its real loader: small archives in the official layouts, and the real ones where at hand."""

import csv
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from samovar.config import PrepareSettings
from samovar.data.dataset import Dataset
from samovar.data.decode import Conversion
from samovar.data.prepare import list_stores, prepare, unofficial_files
from samovar.data.splits import published
from samovar.errors import DataError
from samovar.images import conversion_of

ALL_CIFAR = sorted(name for part in published("cifar_fs").values() for name in part)


def picture(value: int = 0, size: int = 20, mode: str = "L", kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.new(mode, (size, size), value if mode == "L" else (value,) * 3).save(buffer, kind)
    return buffer.getvalue()


def make_zip(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def make_cifar(folder: Path, per_class: int = 2, names: list[str] = ALL_CIFAR, cut: int = 0, groups: int = 20) -> Path:
    """The binary layout: image j of label i has red i, green j, blue 7."""
    coarse = [f"group{i}" for i in range(groups)]
    planes = np.zeros((100, per_class, 2 + 3072), np.uint8)
    planes[..., 0], planes[..., 1] = np.arange(100)[:, None] // 5, np.arange(100)[:, None]
    planes[..., 2:1026] = np.arange(100)[:, None, None]
    planes[..., 1026:2050] = np.arange(per_class)[None, :, None]
    planes[..., 2050:] = 7
    records = planes.reshape(-1, 3074)
    half = len(records) // 2
    parts = {
        "train.bin": records[:half].tobytes(),
        "test.bin": records[half:].tobytes()[: len(records[half:].tobytes()) - cut],
        "fine_label_names.txt": "\n".join(names).encode(),
        "coarse_label_names.txt": "\n".join(coarse).encode(),
    }
    path = folder / "cifar-100-binary.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, content in parts.items():
            member = tarfile.TarInfo(f"cifar-100-binary/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def make_omniglot(folder: Path, extra: dict[str, bytes] | None = None) -> Path:
    for zip_name, alphabets in (("images_background", ["Arcadian"]), ("images_evaluation", ["Tengwar"])):
        entries = {
            f"{zip_name}/{alphabet}/character{c:02d}/{c:04d}_{d:02d}.png": picture(255 if d else 0)
            for alphabet in alphabets
            for c in (1, 2)
            for d in range(3)
        }
        make_zip(folder / f"{zip_name}.zip", entries | (extra or {}))
    return folder


def make_miniimagenet(folder: Path, missing: str = "", zipped: bool = True) -> Path:
    images = {}
    for part, names in published("miniimagenet").items():
        with (folder / f"{part}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["filename", "label"])
            for name in names[:3]:
                for i in range(2):
                    writer.writerow([f"{name}{i:08d}.jpg", name])
                    images[f"images/{name}{i:08d}.jpg"] = picture(50, 30, "RGB", "JPEG")
    images = {name: content for name, content in images.items() if not missing or missing not in name}
    if zipped:
        make_zip(folder / "images.zip", images)
    else:
        (folder / "images").mkdir()
        for name, content in images.items():
            (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize("name", ["cifar_fs", "fc100"])
def test_cifar(tmp_path, name):
    make_cifar(tmp_path)
    store = prepare(name, tmp_path)
    assert store.array.shape == (200, 32, 32, 3)
    assert store.partial == "200 of 60,000 images"
    for position in (0, 57):
        entry = store.classes[position]
        assert (entry.name, entry.group) == (ALL_CIFAR[position], f"group{position // 5}")
        np.testing.assert_array_equal(store.array[2 * position, 3, 4], [position, 0, 7])
        np.testing.assert_array_equal(store.array[2 * position + 1, 3, 4], [position, 1, 7])
    sizes = [len(store.split(part)) for part in ("train", "val", "test")]
    assert sizes == ([64, 16, 20] if name == "cifar_fs" else [60, 20, 20])
    assert unofficial_files(store, tmp_path) == ["cifar-100-binary.tar.gz"]


def test_cifar_from_its_unpacked_folder(tmp_path):
    with tarfile.open(make_cifar(tmp_path)) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (tmp_path / "cifar-100-binary.tar.gz").unlink()
    assert len(prepare("cifar_fs", tmp_path).array) == 200


def test_omniglot(tmp_path):
    store = prepare("omniglot", make_omniglot(tmp_path))
    assert [entry.name for entry in store.classes] == [
        f"{a}/character0{c}" for a in ("Arcadian", "Tengwar") for c in (1, 2)
    ]
    assert store.classes[0].group == "Arcadian"
    assert store.array.shape == (12, 28, 28, 1)
    assert store.array[0].min() == 255, "black ink is bright"
    assert store.array[1].max() == 0, "white paper is dark"
    assert {part: len(store.split(part)) for part in ("train", "val", "test")} == {"train": 2, "val": 0, "test": 2}
    assert sum(len(store.split(part, "versa")) for part in ("train", "val", "test")) == 4


@pytest.mark.parametrize("zipped", [True, False])
def test_miniimagenet_with_csv_files(tmp_path, zipped):
    store = prepare("miniimagenet", make_miniimagenet(tmp_path, zipped=zipped))
    assert store.array.shape == (18, 84, 84, 3)
    assert [len(store.split(part)) for part in ("train", "val", "test")] == [3, 3, 3]
    assert abs(int(store.array[0, 40, 40, 0]) - 50) < 3


def test_miniimagenet_in_class_folders(tmp_path):
    for part in published("miniimagenet").values():
        (tmp_path / part[0]).mkdir()
        (tmp_path / part[0] / "a.jpg").write_bytes(picture(9, 30, "RGB", "JPEG"))
    assert [len(prepare("miniimagenet", tmp_path).split(part)) for part in ("train", "val", "test")] == [1, 1, 1]


def make_folder(root: Path, classes: list[str], images: int = 2) -> Path:
    for position, name in enumerate(classes):
        (root / name).mkdir(parents=True)
        for i in range(images):
            (root / name / f"{i}.png").write_bytes(picture(20 * position, 10, "RGB"))
    return root


def test_folder_by_fraction_by_file_and_by_subfolders(tmp_path):
    names = [f"c{i}" for i in range(10)]
    settings = PrepareSettings(size=12, fractions=(0.6, 0.2, 0.2))
    store = prepare("folder", make_folder(tmp_path / "plain", names), settings)
    assert store.array.shape == (20, 12, 12, 3)
    assert [len(store.split(part)) for part in ("train", "val", "test")] == [6, 2, 2]
    (tmp_path / "split.json").write_text(json.dumps({"train": names[:5], "test": names[5:]}))
    by_file = PrepareSettings(size=12, split_file=tmp_path / "split.json")
    store = prepare("folder", tmp_path / "plain", by_file, store_name="other")
    assert store.split("test") == [5, 6, 7, 8, 9]
    for part, members in (("train", names[:7]), ("val", names[7:8]), ("test", names[8:])):
        make_folder(tmp_path / "parts" / part, members)
    store = prepare("folder", tmp_path / "parts", PrepareSettings(size=12, colour="grey"), store_name="third")
    assert [len(store.split(part)) for part in ("train", "val", "test")] == [7, 1, 2]
    assert store.array.shape[-1] == 1
    assert set(list_stores()) == {"folder", "other", "third"}


def test_parts_are_told_from_classes(tmp_path):
    """`train` may be a class, and hidden folders are nobody's."""
    (make_folder(tmp_path / "toys", ["train", "car", "plane"]) / ".ipynb_checkpoints").mkdir()
    store = prepare("folder", tmp_path / "toys", PrepareSettings(size=8))
    assert [entry.name for entry in store.classes] == ["car", "plane", "train"]
    for part, name in (("train", "a"), ("val", "b"), ("test", "c")):
        make_folder(tmp_path / "parts" / part, [name])
    (tmp_path / "parts" / ".ipynb_checkpoints").mkdir()
    store = prepare("folder", tmp_path / "parts", PrepareSettings(size=8))
    assert [store.split(part) for part in ("train", "val", "test")] == [[0], [1], [2]]


def test_a_store_of_another_name_reads_new_images_as_its_source_does(tmp_path):
    make_omniglot(tmp_path)
    plain, renamed = (prepare("omniglot", tmp_path, store_name=name) for name in (None, "mine"))
    assert conversion_of(renamed) == conversion_of(plain) == Conversion(28, "grey", "lanczos", inverted=True)


def test_changed_images_of_miniimagenet_are_noticed(tmp_path):
    for value in (0, 200):
        for part in published("miniimagenet").values():
            (tmp_path / part[0]).mkdir(exist_ok=True)
            (tmp_path / part[0] / "a.png").write_bytes(picture(value, 30, "RGB"))
        assert prepare("miniimagenet", tmp_path).array.max() == value


def test_a_changed_image_is_noticed(tmp_path):
    root, settings = make_folder(tmp_path / "x", ["a", "b", "c"]), PrepareSettings(size=10)
    assert prepare("folder", root, settings).array[0, 0, 0, 0] == 0
    (root / "a" / "0.png").write_bytes(picture(77, 10, "RGB"))
    assert prepare("folder", root, settings).array[0, 0, 0, 0] == 77


@pytest.mark.parametrize("labels", [np.repeat(np.arange(4), 5), np.repeat(["ant", "bee", "cat", "dog"], 5)])
@pytest.mark.parametrize("form", ["npz", "npy"])
def test_features(tmp_path, labels, form):
    features = np.random.default_rng(0).standard_normal((20, 7))
    order = np.random.default_rng(1).permutation(20)
    if form == "npz":
        root = tmp_path / "clip.npz"
        np.savez(root, features=features[order], labels=labels[order])
    else:
        root = tmp_path
        np.save(root / "features.npy", features[order])
        np.save(root / "labels.npy", labels[order])
    store = prepare("features", root)
    assert store.array.shape == (20, 7)
    assert store.array.dtype == np.float32
    assert [entry.name for entry in store.classes] == [str(label) for label in labels[::5]]
    np.testing.assert_allclose(np.sort(store.array[:5], 0), np.sort(features[:5], 0), rtol=1e-6)
    gathered = Dataset(store).gather(np.array([[0, 1]]))
    assert gathered.shape == (1, 2, 7)


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
    cases["not an archive"] = ("cifar_fs", folder, "is damaged or not what its name says")
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
    for name, entry in (("climbing", "../../evil.png"), ("absolute", "/etc/evil.png"), ("windows", "C:\\evil.png")):
        folder = case(f"zip entry {name}")
        make_omniglot(folder, {entry: picture()})
        cases[f"zip entry {name}"] = ("omniglot", folder, "points outside it")
    folder = case("broken drawing")
    make_omniglot(folder, {"images_background/Arcadian/character01/9.png": b"text"})
    cases["broken drawing"] = ("omniglot", folder, "9.png is not an image")
    folder = case("csv")
    make_miniimagenet(folder, missing="n0153282900000001")
    cases["csv names a missing image"] = ("miniimagenet", folder, "train.csv names n0153282900000001.jpg")
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
    cases["no folder"] = ("folder", root / "nowhere", "There is no")
    numbers, labels = np.zeros((4, 3)), np.arange(4)
    for name, arrays, words in (
        (
            "nan",
            {"features": np.where(np.eye(4, 3) > 0, np.nan, numbers), "labels": labels},
            "no finite float32, the first is row 0",
        ),
        ("overflow", {"features": numbers + 1e39, "labels": labels}, "no finite float32, the first is row 0"),
        ("lengths", {"features": numbers, "labels": labels[:3]}, r"features \(4, 3\) and labels \(3,\)"),
        ("no labels", {"features": numbers}, "cannot be read"),
        ("objects", {"features": numbers, "labels": np.array([1, "a", None, 2], object)}, "cannot be read"),
    ):
        np.savez(root / f"{name}.npz", **arrays, allow_pickle=True)
        cases[f"features {name}"] = ("features", root / f"{name}.npz", words)
    np.savez(root / "cut.npz", features=np.ones((40, 30)), labels=np.arange(40))
    write(root / "cut.npz", (root / "cut.npz").read_bytes()[:5000])
    cases["cut npz"] = ("features", root / "cut.npz", "cut.npz cannot be read")
    cases["no npz"] = ("features", write(root / "text.npz", b"text"), "cannot be read")
    return cases


NAMES_OF_BAD_INPUTS = [
    "cut archive", "not an archive", "cut records", "other class names", "few superclasses", "nothing there",
    "cut zip", "zip entry climbing", "zip entry absolute", "zip entry windows", "broken drawing",
    "csv names a missing image", "csv without columns", "csv with a huge field", "class in two csv files",
    "no download", "text as jpg", "empty class", "class twice", "link out of the folder", "linked class",
    "linked part", "damaged lzma", "empty folder", "no folder", "features overflow", "features nan",
    "features lengths", "features no labels", "features objects", "cut npz", "no npz",
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
    with pytest.raises(DataError, match="there are glyphs, omniglot"):
        prepare("imagenet")
    for name in ("../x", "*", ".x"):
        with pytest.raises(DataError, match="cannot be the name"):
            prepare("folder", tmp_path, store_name=name)
    with pytest.raises(DataError, match="Fractions of train"):
        prepare("folder", make_folder(tmp_path / "own", ["a", "b"]), PrepareSettings(fractions=(1e308, 1e308, 1e308)))
    with pytest.raises(DataError, match="needs --root"):
        prepare("folder")
    for kept in ("downloads", "cifar_fs"):
        with pytest.raises(DataError, match="kept for other things"):
            prepare("folder", tmp_path, store_name=kept)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("[1]", "must be JSON"),
        ('{"train": ["nobody"]}', "lists 'nobody'"),
    ],
)
def test_bad_split_files(tmp_path, content, words):
    root = make_folder(tmp_path / "x", ["a", "b", "c"])
    (tmp_path / "split.json").write_text(content)
    with pytest.raises(DataError, match=words):
        prepare("folder", root, PrepareSettings(split_file=tmp_path / "split.json"))


def test_published_lists():
    sizes = {
        name: [len(published(name)[part]) for part in ("train", "val", "test")]
        for name in ("miniimagenet", "cifar_fs", "fc100", "omniglot_vinyals")
    }
    assert sizes == {
        "miniimagenet": [64, 16, 20],
        "cifar_fs": [64, 16, 20],
        "fc100": [60, 20, 20],
        "omniglot_vinyals": [1028, 172, 423],
    }
    for name in sizes:
        everything = [each for part in published(name).values() for each in part]
        assert len(set(everything)) == len(everything)


def test_real_omniglot(archives):
    store = prepare("omniglot", archives("omniglot"))
    assert store.array.shape == (32_460, 28, 28, 1)
    assert store.partial is None
    assert {entry.count for entry in store.classes} == {20}
    assert len({entry.group for entry in store.classes}) == 50
    assert [len(store.split(part)) for part in ("train", "val", "test")] == [1028, 172, 423]
    assert [len(store.split(part, "versa")) for part in ("train", "val", "test")] == [1100, 100, 423]
    assert 10 < store.array[:2000].mean() < 40, "thin bright ink on black"


def test_real_cifar(archives):
    store = prepare("fc100", archives("cifar100"))
    assert store.array.shape == (60_000, 32, 32, 3)
    assert store.partial is None
    assert {entry.count for entry in store.classes} == {600}
    groups = {entry.name: entry.group for entry in store.classes}
    assert groups["apple"] == "fruit_and_vegetables"
    assert groups["worm"] == "non-insect_invertebrates"
    assert {groups[store.classes[i].name] for i in store.split("test")} == {
        "aquatic_mammals",
        "insects",
        "medium_mammals",
        "people",
    }
    # MetaOptNet's constants for FC100 are those of CIFAR-100's 50,000 training images.
    np.testing.assert_allclose(store.array.mean((0, 1, 2)), [129.377, 124.106, 112.478], atol=0.5)


def test_real_miniimagenet_sample(archives):
    store = prepare("miniimagenet", archives("miniimagenet-sample"))
    assert store.array.shape == (2000, 84, 84, 3)
    assert store.partial == "2,000 of 60,000 images"
    assert [len(store.split(part)) for part in ("train", "val", "test")] == [64, 16, 20]
