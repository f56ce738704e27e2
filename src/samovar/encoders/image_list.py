"""The images that a user names: a folder, a zip archive, or a list of paths.

`images_to_embed` is for `samovar embed`, where labels are optional, and refuses images beside class
folders. `labelled_images` is for `fit` and `score`, where every image has a label, and `all_images`
for `predict`, where labels do not matter. All of them count what they leave out.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from samovar.data.archive import Zip
from samovar.data.images.decode import EXTENSIONS
from samovar.data.images.folder_walk import walk_images
from samovar.data.images.left_out import BESIDE
from samovar.data.sources.folder import visible_folders
from samovar.encoders.class_labels import shared_folders, splits_of
from samovar.encoders.image_sources import (
    ImageList,
    archive_images,
    class_parents,
    disk_images,
    read_images,
)
from samovar.encoders.image_sources import ListedImage as ListedImage
from samovar.errors import DataError, SettingsError


def list_images(root: Path) -> list[ListedImage]:
    """Return the images of a folder, a zip archive or a text file with one path in each line."""
    return images_to_embed(root).images


def images_to_embed(root: Path) -> ImageList:
    """Return the images that `list_images` returns, and what was left out."""
    found = read_images(root, follow_links=False)
    images = found.images
    if not images:
        raise DataError(
            f"{root} has no images. Their names end with one of: {', '.join(EXTENSIONS)}."
        )
    labels = {image.label for image in images}
    if root.is_dir() and "" in labels and len(labels) > 1:
        folder = max(labels)
        raise DataError(
            f"{root} has images beside class folders such as {folder}. Move them into a class "
            "folder, or remove them."
        )
    names = [image.name for image in images]
    splits = splits_of(names, [image.label for image in images])
    images = [replace(image, split=split) for image, split in zip(images, splits, strict=True)]
    return ImageList(images, found.left_out)


def labelled_images(root: Path, *, follow_links: bool = False) -> ImageList:
    """Return the images of class folders, of a zip archive of them, or of a list with labels.

    Images beside the class folders are left out. A folder that has train/, val/ and test/ is
    refused: only the user knows which of them is meant.
    """
    if not root.exists():
        raise DataError(f"There is no folder {root}, nor a zip archive or a list of that name.")
    if root.is_dir():
        parents = class_parents(root)
        if len(parents) > 1:
            raise DataError(
                f"The class folders of {root} are in {', '.join(path.name for path in parents)}. "
                f"Name one of these folders, such as {parents[0]}."
            )
    return _with_labels(root, read_images(root, follow_links=follow_links))


def labelled_archive(archive: Zip) -> ImageList:
    """Return the images of an archive of class folders that is open already."""
    return _with_labels(archive.path, archive_images(archive))


def _with_labels(root: Path, found: ImageList) -> ImageList:
    """Return the images that have a label; an error if there are none."""
    images = _all_labelled(found.images)
    if not images:
        raise _no_labels(root, found)
    for _ in range(len(found.images) - len(images)):
        found.left_out.add(BESIDE)
    return ImageList(images, found.left_out)


def _all_labelled(images: list[ListedImage]) -> list[ListedImage]:
    """Return the images that have a label; those of one single folder get its name."""
    labelled = [image for image in images if image.label != ""]
    if labelled:
        return labelled
    shared = shared_folders([image.name for image in images])
    if not shared:
        return []
    return [replace(image, label=shared[-1]) for image in images]


def _no_labels(root: Path, found: ImageList) -> DataError:
    if root.is_dir() or found.images:
        message = (
            f"{root} has no class folders. Put the images of each class into a folder named after "
            "it"
        )
        if not root.is_dir():
            message += ", or write a tab and a label after each path of a list"
        return DataError(f"{message}.")
    return DataError(f"{root} has no images. Left out: {found.left_out or 'nothing'}.")


def all_images(
    root: Path, *, recursive: bool = False, follow_links: bool = False
) -> tuple[ImageList, int]:
    """Return the images of a folder, a zip archive or a list, whatever their labels are.

    A folder is searched to any depth if `recursive`, or if it has no images itself. The second
    result is the number of folders inside that were not searched.
    """
    if not root.is_dir():
        return read_images(root, follow_links=follow_links), 0
    found = walk_images(root, follow_links=follow_links, deep=recursive)
    folders = len(visible_folders(root))
    if recursive or found.paths or not folders:
        skipped = 0 if recursive else folders
        return ImageList(disk_images(root, found.paths), found.left_out), skipped
    found = walk_images(root, follow_links=follow_links)
    return ImageList(disk_images(root, found.paths), found.left_out), 0


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
