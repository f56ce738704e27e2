"""What a user gives to `FewShotClassifier`: images with labels, or images to be labelled."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from samovar.classifier.copies import with_checksum
from samovar.classifier.labels import label_array
from samovar.classifier.support_names import SupportNames
from samovar.data.images.decode import EXTENSIONS
from samovar.data.images.image_file import ImageFile
from samovar.data.images.user_images import listed
from samovar.encoders.class_labels import shared_folders
from samovar.encoders.image_list import all_images, labelled_images
from samovar.errors import DataError


class LabelledImages(NamedTuple):
    """Images with their labels, and the names and checksums of those that are files."""

    images: Any
    labels: NDArray[Any]
    file_names: Sequence[str] | None
    """None if not all images are files."""
    digests: dict[str, str]
    """By the names of the files as they were given; filled when they are read."""
    from_folders: bool = False
    """Whether they are class folders, in which copies are left out, as `samovar fit` does."""

    def names(self) -> SupportNames | None:
        """Return what a task remembers of the files, once they are read."""
        if self.file_names is None:
            return None
        digests = tuple(self.digests[file.name] for file in self.images)
        return SupportNames(tuple(self.file_names), tuple(self.labels.tolist()), digests)


def labelled(images: Any, labels: ArrayLike | None) -> LabelledImages:
    """Return images with their labels; those of class folders need none."""
    digests: dict[str, str] = {}
    if labels is None:
        if not isinstance(images, str | Path):
            # The first words are those that scikit-learn's checks of estimators expect.
            raise ValueError(
                "requires y to be passed, but the target y is None: only a folder of class folders "
                "needs no labels."
            )
        found = labelled_images(Path(images)).images
        files = [with_checksum(image.file, digests) for image in found]
        names = [image.name for image in found]
        found_labels = np.array([image.label for image in found])
        return LabelledImages(files, found_labels, names, digests, from_folders=True)
    paths = _paths(images)
    if paths is None:
        return LabelledImages(images, label_array(labels), None, digests)
    files = [with_checksum(ImageFile.at(path), digests) for path in paths]
    return LabelledImages(files, label_array(labels), relative_names(paths), digests)


def _paths(images: Any) -> list[Path] | None:
    """Return a list of paths, if that is what the images are."""
    if isinstance(images, list | tuple):
        items: Sequence[Any] = images
    elif isinstance(images, np.ndarray) or hasattr(images, "iloc"):
        table = np.asarray(images)
        if table.dtype.kind not in "UO":  # numbers
            return None
        items = table.ravel().tolist()
    else:  # not looked into: a generator can be read only once
        return None
    if not items or not all(isinstance(item, str | Path) for item in items):
        return None
    return [Path(item) for item in listed(images)]


def relative_names(paths: Sequence[Path]) -> list[str]:
    """Return paths without the folders that they share.

    >>> relative_names([Path("/home/me/cat/1.jpg"), Path("/home/me/dog/1.jpg")])
    ['cat/1.jpg', 'dog/1.jpg']
    """
    names = [path.as_posix() for path in paths]
    shared = len(shared_folders(names))
    return ["/".join(path.parts[shared:]) for path in paths]


def queries(images: Any) -> Any:
    """Return images to be labelled as a list: a single image, or those of a folder, too."""
    if isinstance(images, Image.Image):
        return [images]
    if not isinstance(images, str | Path):
        return images
    path = Path(images)
    if not path.is_dir() and path.suffix.lower() not in (".zip", ".txt", ".tsv"):
        return [path]
    found, _ = all_images(path)
    if not found.images:
        raise DataError(
            f"{path} has no images. Their names end with one of: {', '.join(EXTENSIONS)}."
        )
    return [image.file for image in found.images]
