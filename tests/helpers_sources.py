"""Small archives in the official layouts of the data sets."""

import csv
import io
import tarfile
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image

from samovar.data.splits import published

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


def make_cifar(
    folder: Path, per_class: int = 2, names: list[str] = ALL_CIFAR, cut: int = 0, groups: int = 20
) -> Path:
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
    for zip_name, alphabets in (
        ("images_background", ["Arcadian"]),
        ("images_evaluation", ["Tengwar"]),
    ):
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
    images = {
        name: content for name, content in images.items() if not missing or missing not in name
    }
    if zipped:
        make_zip(folder / "images.zip", images)
    else:
        (folder / "images").mkdir()
        for name, content in images.items():
            (folder / name).write_bytes(content)
    return folder


def make_folder(root: Path, classes: list[str], images: int = 2) -> Path:
    for position, name in enumerate(classes):
        (root / name).mkdir(parents=True)
        for i in range(images):
            (root / name / f"{i}.png").write_bytes(picture(20 * position, 10, "RGB"))
    return root
