"""Where images are read from: a folder of class folders, a zip archive, or a list of paths.

`read_images` gives each image the label that its folder or the list has for it. Where there is
none, as for images that lie beside class folders, the label is the empty text.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from samovar.core.input_files import read_input
from samovar.data.archive import Zip
from samovar.data.images.decode import EXTENSIONS
from samovar.data.images.folder_walk import check_link, is_image_file, walk_images
from samovar.data.images.heif import missing_for
from samovar.data.images.image_file import ImageFile
from samovar.data.images.left_out import HIDDEN, LeftOut
from samovar.data.sources.folder import is_presplit, no_images, visible_folders
from samovar.data.store import SPLITS
from samovar.encoders.class_labels import class_labels
from samovar.errors import DataError

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


@dataclass(frozen=True)
class ImageList:
    """The images that a user has named, and what was left out."""

    images: list[ListedImage]
    left_out: LeftOut = field(default_factory=LeftOut)


def read_images(root: Path, *, follow_links: bool) -> ImageList:
    """Return all images with the labels that folders or a list give them, perhaps empty."""
    if root.is_dir():
        return _folder_images(root, follow_links)
    if not root.is_file():
        raise DataError(f"There is no folder or file {root}.")
    if root.suffix.lower() == ".zip":
        return archive_images(Zip(root))
    return ImageList(_text_images(root))


def _folder_images(root: Path, follow_links: bool) -> ImageList:
    """Return the images of a folder; a class folder without any is an error."""
    top = walk_images(root, follow_links=follow_links, deep=False)
    images = disk_images(root, top.paths)
    for parent in class_parents(root):
        if not follow_links:
            check_link(parent, root)
        for folder in sorted(visible_folders(parent)):
            found = walk_images(folder, root, follow_links=follow_links)
            if not found.paths:
                raise no_images(folder, found.left_out)
            images += disk_images(root, found.paths, folder.name)
            top.left_out.include(found.left_out)
    return ImageList(images, top.left_out)


def class_parents(root: Path) -> list[Path]:
    """Return the folders that the class folders lie in: the folder itself, or train/, val/, test/.

    A folder that has nothing but a folder of folders, as archives often unpack, is entered.
    """
    parent = root
    while not _has_images(parent):
        folders = visible_folders(parent)
        if len(folders) != 1 or _has_images(folders[0]) or len(visible_folders(folders[0])) < 2:
            break
        parent = folders[0]
    if is_presplit(parent):
        return [parent / split for split in SPLITS if (parent / split).is_dir()]
    return [parent]


def _has_images(folder: Path) -> bool:
    """Return whether a folder has images itself, without a look at what links are."""
    return any(is_image_file(path) for path in folder.iterdir())


def disk_images(root: Path, paths: Iterable[Path], label: str = "") -> list[ListedImage]:
    """Return images on the disk, named by their paths inside a folder."""
    return [_disk_image(path, path.relative_to(root).as_posix(), label) for path in paths]


def _disk_image(path: Path, name: str, label: str) -> ListedImage:
    try:
        state = path.stat()
        known = f"{state.st_size} {state.st_mtime_ns}"
    except OSError:  # it may come back; until then reading it says what is wrong
        known = "missing"
    return ListedImage(name, label, ImageFile.at(path), known)


def archive_images(archive: Zip) -> ImageList:
    """Return the images of an archive, with the labels that its folders give them."""
    path = archive.path
    left_out = LeftOut()
    names = []
    for name in sorted(archive.entries):
        place = PurePosixPath(name)
        hidden = any(part.startswith((".", "__MACOSX")) for part in place.parts)
        if hidden:
            left_out.add(HIDDEN)
        elif place.suffix.lower() in EXTENSIONS and missing_for(place) is None:
            names.append(name)
        else:
            left_out.add_file(place)
    images = []
    for name, label in zip(names, class_labels(names), strict=True):
        entry = archive.entries[name]
        file = ImageFile(f"{path}/{name}", _entry_reader(archive, name))
        images.append(ListedImage(name, label, file, f"{entry.file_size} {entry.CRC}"))
    return ImageList(images, left_out)


def _entry_reader(archive: Zip, name: str) -> Callable[[], bytes]:
    return lambda: archive.read(name)


def _text_images(path: Path) -> list[ListedImage]:
    """Return the images of a list: a path in each line, perhaps a tab and a label after it."""
    content = read_input(path, LARGEST_LIST)
    content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not a folder, a zip archive or a text file with a path in each line."
        ) from error
    return listed_paths(text, path.parent, str(path))


def listed_paths(text: str, folder: Path, source: str) -> list[ListedImage]:
    """Return the images of a list of paths, relative to a folder; errors call the list `source`.

    Labels stand after a tab. Without any, the folder of an image is its label.
    """
    if text.count("\n") > MOST_LINES:
        raise DataError(f"{source} has more than {MOST_LINES:,} lines. Divide it.")
    names: list[str] = []
    given: list[str] = []
    for line in text.split("\n"):
        if line.strip():
            name, _, label = line.partition("\t")
            names.append(name.strip())
            given.append(label.strip())
    if any("\0" in name for name in names):
        raise DataError(f"{source} is not a text file with a path in each line.")
    labels = given
    if not any(given):
        labels = _labels_by_folder(names)
    images = []
    for name, label in zip(names, labels, strict=True):
        images.append(_disk_image(folder / name, name, label))
    return images


def _labels_by_folder(names: Sequence[str]) -> list[str]:
    """Return the name of each image's folder, or empty texts if all are in the same folder."""
    folders = [PurePosixPath(name.replace("\\", "/")).parent for name in names]
    if len(set(folders)) == 1:
        return [""] * len(names)
    return [folder.name for folder in folders]
