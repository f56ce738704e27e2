"""The images that `samovar check` looks at: those of a folder, or of a task."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.check_report import CheckReport, check_camera
from samovar.classifier.heap_sorter import file_photos, finish, sorting_lock
from samovar.classifier.loading import Fitted, fit_task, load_fitted
from samovar.classifier.sorting import folder_name
from samovar.cli.fit_choices import Choices
from samovar.cli.fit_support import new_start
from samovar.cli.named_images import named_images
from samovar.cli.reading import read_files
from samovar.core.filing import Filing, free_name
from samovar.data.images.grey_looks import SIDE, grey_looks
from samovar.data.images.image_file import ImageFile
from samovar.data.images.pictures import decode_picture, shown_picture
from samovar.encoders.image_list import labelled_images
from samovar.errors import DataError
from samovar.prediction.changed_camera import CameraChange
from samovar.reporting.terminal import report_left_out, report_skipped

SHOWN_SIDE = 240
"""Pixels of the longer side of a picture of the page."""


@dataclass(frozen=True)
class CheckedImages:
    """Labelled images with the task that they make."""

    fitted: Fitted
    parameters: AnswerParameters
    names: Sequence[Any] | None
    labels: Sequence[Any] = ()
    files: dict[Any, ImageFile] = field(default_factory=dict)
    """By name; empty for a task, which has no images."""
    looks: NDArray[np.float32] | None = None
    code: int = 0
    """The exit code so far: 1 if images could not be read."""

    def picture(self, name: Any) -> Image.Image | None:
        """Return a picture of an image to look at; None where the image is not at hand."""
        if name not in self.files:
            return None
        try:
            return shown_picture(self.files[name].read(), str(name), SHOWN_SIDE)
        except DataError:  # it has gone meanwhile
            return None


def checked_task(
    path: Path, model: str | None, encoder: str | None, device: torch.device
) -> CheckedImages:
    """Read a task file."""
    fitted, info = load_fitted(path, model, device, encoder)
    names = None if info.support is None else info.support.names
    return CheckedImages(fitted, info.parameters, names)


def checked_folder(
    place: Path, choices: Choices, device: torch.device, *, follow_links: bool, cache: bool
) -> CheckedImages:
    """Read labelled images, copies and all, and fit the model to them."""
    listed = labelled_images(place, follow_links=follow_links)
    start = new_start(choices, "never", device)
    files = [image.file for image in listed.images]
    read = read_files(files, start.saved, start.model, cache=cache)
    code = max(report_left_out(listed.left_out), report_skipped(read.unreadable))
    images = [listed.images[position] for position in read.positions]
    labels = [image.label for image in images]
    fitted = fit_task(start.saved, device, read.inputs, labels)
    names = [image.name for image in images]
    by_name = dict(zip(names, read.files, strict=True))
    looks = grey_looks([decode_picture(file.read(), file.name, 4 * SIDE) for file in read.files])
    return CheckedImages(fitted, start.parameters, names, labels, by_name, looks, code)


def compared_camera(
    images: CheckedImages, against: Path, follow_links: bool, cache: bool
) -> tuple[CameraChange | None, int]:
    """Compare new photos with the labelled ones; return the exit code, too."""
    named = named_images([against], follow_links=follow_links)
    read = read_files(named.files, images.fitted.saved, "of the check", cache=cache)
    missed = max(report_left_out(named.left_out, named.note), report_skipped(read.unreadable))
    camera = check_camera(images.fitted, read.inputs, images.parameters)
    if camera is None:
        raise DataError(
            f"The photos of {against} cannot be compared: that needs a model with an encoder, such "
            "as photos, and some photos of the classes."
        )
    return camera, missed


def move_found(report: CheckReport, images: CheckedImages, into: Path) -> tuple[int, list[str]]:
    """Move suspected images and redundant duplicates; return how many, and which stayed."""
    assert images.names is not None
    label_of = dict(zip(images.names, images.labels, strict=True))
    found = dict.fromkeys([suspect.image for suspect in report.suspects] + report.redundant())
    with sorting_lock(into):
        finish(into)
        taken: dict[str, set[str]] = defaultdict(set)
        filings = []
        for name in found:
            folder = folder_name(str(label_of[name]))
            if (into / folder).is_dir():
                taken[folder] |= {path.name.casefold() for path in (into / folder).iterdir()}
            path = Path(images.files[name].name)
            free = free_name(path.name, taken[folder])
            taken[folder].add(free.casefold())
            filings.append(Filing.of(path, f"{folder}/{free}", "move"))
        failed = file_photos(filings, into)
    return len(filings) - len(failed), [filing.source for filing in failed]
