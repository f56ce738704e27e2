"""How `samovar fit` starts, from a model or from a task that grows, and reads the images for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from samovar.artifacts.saved_model import SavedModel
from samovar.artifacts.saved_regression import SavedRegression
from samovar.classifier.answer import USUAL_RATE, AnswerParameters
from samovar.classifier.chosen_encoder import choose_encoder
from samovar.classifier.copies import Copies, find_copies, with_checksum
from samovar.classifier.loading import Fitted, fit_task, load_fitted, ready_model, stored_name
from samovar.classifier.support_names import SupportNames
from samovar.cli.fit_choices import MODEL, SAMPLES, SEED, Choices
from samovar.cli.reading import read_files
from samovar.data.images.user_images import Unreadable
from samovar.encoders.image_sources import ImageList
from samovar.errors import DataError

Saved = SavedModel | SavedRegression


@dataclass(frozen=True)
class Support:
    """The images that are used, as the model takes them, and what was found out about them."""

    inputs: list[Tensor]
    names: SupportNames
    copies: Copies
    unreadable: list[Unreadable]


@dataclass(frozen=True)
class Start:
    """What a task is made from: a model, or a task that images are added to."""

    model: str
    """What the user calls the model."""
    place: str
    """What the task file calls it."""
    saved: Saved
    parameters: AnswerParameters
    task: Fitted | None = None
    """The task that grows."""
    earlier: SupportNames | None = None
    """The images that it has already, where their names are known."""
    note: str = ""

    def fitted_to(self, support: Support, device: torch.device) -> Fitted:
        """Return the model fitted to the images, besides those of the task that grows."""
        labels = list(support.names.labels)
        if self.task is None:
            return fit_task(self.saved, device, support.inputs, labels)
        return self.task.extended(support.inputs, labels)

    def names_with(self, support: Support) -> SupportNames | None:
        """Return the names of all images; None if the task that grows does not have its own."""
        if self.task is None:
            return support.names
        if self.earlier is None:
            return None
        return self.earlier + support.names


def new_start(
    choices: Choices, rate: float | Literal["auto", "never"], device: torch.device
) -> Start:
    """Load the model of a new task."""
    model = choices.model or MODEL
    ready = ready_model(model, device)
    saved = choose_encoder(ready, choices.encoder, choices.preprocessing)
    samples = SAMPLES if choices.samples is None else choices.samples
    seed = SEED if choices.seed is None else choices.seed
    parameters = AnswerParameters(samples, _number(rate, saved), seed=seed)
    parameters.check(saved.rejection)
    note = _another_encoder(model, ready, saved)
    return Start(model, stored_name(model), saved, parameters, note=note)


def grown_start(task: Path, encoder: str | None, device: torch.device) -> Start:
    """Load a task that images are added to."""
    fitted, info = load_fitted(task, None, device, encoder)
    return Start(info.model, info.model, fitted.saved, info.parameters, fitted, info.support)


def read_support(listed: ImageList, start: Start, *, cache: bool) -> Support:
    """Read the support images; copies are left out, and a class without images is an error."""
    digests: dict[str, str] = {}
    files = [with_checksum(image.file, digests) for image in listed.images]
    read = read_files(files, start.saved, start.model, cache=cache)
    images = [listed.images[position] for position in read.positions]
    names = SupportNames(
        tuple(image.name for image in images),
        tuple(image.label for image in images),
        tuple(digests[file.name] for file in read.files),
    )
    _check_classes(listed, names.labels, read.unreadable)
    copies = find_copies(names, start.earlier)
    if not copies.kept:
        raise DataError(
            f"All {len(images)} images are in the task already, in the same classes. Nothing was "
            "changed."
        )
    inputs = [read.inputs[position] for position in copies.kept]
    return Support(inputs, names.at(copies.kept), copies, read.unreadable)


def _check_classes(
    listed: ImageList, labels: Sequence[str], unreadable: Sequence[Unreadable]
) -> None:
    """Refuse a class of which no image can be read."""
    label_of = {Path(image.file.name): image.label for image in listed.images}
    for image in unreadable:
        label = label_of[image.path]
        if label not in labels:
            raise DataError(f"No image of the class {label!r} can be read: {image.reason}")


def _number(rate: float | Literal["auto", "never"], saved: Saved) -> float | None:
    """Return the rate of rejection as a number; None rejects nothing."""
    if rate == "never" or (rate == "auto" and saved.rejection is None):
        return None
    if rate == "auto":
        return USUAL_RATE
    return rate


def _another_encoder(model: str, ready: Saved, saved: Saved) -> str:
    """Return a sentence about an encoder that the model has learned nothing about; else nothing."""
    if ready.encoder is None or saved.encoder is None:
        return ""
    if ready.encoder.identity == saved.encoder.identity:
        return ""
    return (
        f"Encoder: {model} was trained on vectors of {ready.encoder.name}. Its probabilities and "
        f"thresholds are not measured for {saved.encoder.name}."
    )
