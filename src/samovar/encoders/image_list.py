"""The images that a user wants to have encoded: a folder, a zip archive, or a list of paths.

A label is the name of an image's folder. Where all images lie in one folder there are no labels,
which is written as the empty text.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from samovar.core.input_files import read_input
from samovar.data.archive import Zip
from samovar.data.images.decode import EXTENSIONS
from samovar.data.images.pictures import ImageFile
from samovar.data.sources.folder import class_folders, is_presplit
from samovar.data.store import SPLITS
from samovar.errors import DataError, SettingsError

LARGEST_LIST = 128 * 2**20
"""Bytes of a list of paths."""
MOST_LINES = 1_000_000
"""Paths in a list, as many as an archive may have entries."""


@dataclass(frozen=True)
class ListedImage:
    """An image with its label, and what is known of it without reading it."""

    name: str
    """Its path, relative to the folder, the archive or the list."""
    label: str
    file: ImageFile
    state: str
    """Changes when the image does: size and time, or the checksum that an archive has of it."""
    split: str = ""
    """train, val or test, where the folders above the classes say so."""


def list_images(root: Path) -> list[ListedImage]:
    """Return the images of a folder, a zip archive or a text file with one path in each line."""
    if root.is_dir():
        images = _folder_images(root)
    elif not root.is_file():
        raise DataError(f"There is no folder or file {root}.")
    elif root.suffix.lower() == ".zip":
        images = _zip_images(root)
    else:
        images = _text_images(root)
    if not images:
        raise DataError(
            f"{root} has no images. Their names end with one of: {', '.join(EXTENSIONS)}."
        )
    return _with_splits(images)


def _with_splits(images: list[ListedImage]) -> list[ListedImage]:
    """Note the splits of images whose class folders lie in train/, val/ and test/.

    A class that is in two of them (as is the custom where all classes are known in training) makes
    no few-shot split: then nothing is noted.
    """
    splits = []
    for image in images:
        parents = PurePosixPath(image.name.replace("\\", "/")).parents
        splits.append(parents[1].name if len(parents) > 2 else "")
    if "train" not in splits or len(set(splits)) < 2 or not set(splits) <= set(SPLITS):
        return images
    split_of: dict[str, str] = {}
    for image, split in zip(images, splits, strict=True):
        if split_of.setdefault(image.label, split) != split:
            return images
    return [replace(image, split=split_of[image.label]) for image in images]


def fingerprint_images(images: Sequence[ListedImage]) -> str:
    """Return a hash of names, labels and states, to notice when anything has changed."""
    digest = hashlib.sha256()
    for image in images:
        facts = [image.name, image.label, image.state]
        if image.split:
            facts.append(image.split)
        digest.update(json.dumps(facts).encode())
    return digest.hexdigest()


def shard_of(images: Sequence[ListedImage], shard: str | None) -> Sequence[ListedImage]:
    """Return a part of the images: shard "2/4" is the second of four, as equal as possible.

    The parts follow one another: joined in order they are the whole.
    """
    if shard is None:
        return images
    first, slash, second = shard.partition("/")
    numbers = first.isascii() and first.isdigit() and second.isascii() and second.isdigit()
    if not slash or not numbers or not 1 <= int(first) <= int(second):
        raise SettingsError(f"A shard is written i/n, such as 1/4 to 4/4, but {shard!r} was given.")
    number = int(first)
    count = int(second)
    start = (number - 1) * len(images) // count
    return images[start : number * len(images) // count]


def _is_image(name: str) -> bool:
    return name.lower().endswith(EXTENSIONS)


def _folder_images(root: Path) -> list[ListedImage]:
    loose: list[Path] = []
    for path in sorted(root.iterdir()):
        if _is_image(path.name) and path.is_file():
            loose.append(path)
    if loose:
        _check_loose(root)
        return [_disk_image(path, path.name, "") for path in loose]
    parents = [root]
    if is_presplit(root):
        parents = [root / split for split in SPLITS if (root / split).is_dir()]
    images = []
    for parent in parents:
        for folder, paths in class_folders(parent, root):
            for path in paths:
                name = path.relative_to(root).as_posix()
                images.append(_disk_image(path, name, folder.name))
    return images


def _check_loose(root: Path) -> None:
    """Refuse a folder with images both beside class folders and inside them."""
    for folder in root.iterdir():
        if folder.is_dir() and not folder.name.startswith("."):
            for path in folder.iterdir():
                if _is_image(path.name):
                    raise DataError(
                        f"{root} has images beside class folders such as {folder.name}. Move them "
                        "into a class folder, or remove them."
                    )


def _disk_image(path: Path, name: str, label: str) -> ListedImage:
    try:
        state = path.stat()
        known = f"{state.st_size} {state.st_mtime_ns}"
    except OSError:  # it may come back; until then reading it says what is wrong
        known = "missing"
    return ListedImage(name, label, ImageFile.at(path), known)


def _zip_images(path: Path) -> list[ListedImage]:
    archive = Zip(path)
    names = []
    for name in sorted(archive.entries):
        hidden = any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)
        if _is_image(name) and not hidden:
            names.append(name)
    labels = _labels_by_folder(names)
    images = []
    for name, label in zip(names, labels, strict=True):
        entry = archive.entries[name]
        file = ImageFile(f"{path}/{name}", _entry_reader(archive, name))
        images.append(ListedImage(name, label, file, f"{entry.file_size} {entry.CRC}"))
    return images


def _entry_reader(archive: Zip, name: str) -> Callable[[], bytes]:
    return lambda: archive.read(name)


def _text_images(path: Path) -> list[ListedImage]:
    """Return the images of a list: a path in each line, perhaps a tab and a label after it."""
    content = read_input(path, LARGEST_LIST)
    content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if content.count(b"\n") > MOST_LINES:
        raise DataError(f"{path} has more than {MOST_LINES:,} lines. Divide it.")
    try:
        lines = content.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not a folder, a zip archive or a text file with a path in each line."
        ) from error
    names: list[str] = []
    given: list[str] = []
    for line in lines:
        if line.strip():
            name, _, label = line.partition("\t")
            names.append(name.strip())
            given.append(label.strip())
    labels = given if any(given) else _labels_by_folder(names)
    images = []
    for name, label in zip(names, labels, strict=True):
        if "\0" in name:
            raise DataError(f"{path} is not a text file with a path in each line.")
        images.append(_disk_image(path.parent / name, name, label))
    return images


def _labels_by_folder(names: Sequence[str]) -> list[str]:
    """Return the name of each image's folder, or empty texts if all are in the same folder."""
    folders = [PurePosixPath(name.replace("\\", "/")).parent for name in names]
    if len(set(folders)) == 1:
        return [""] * len(names)
    return [folder.name for folder in folders]
