"""`samovar fit`: turn a user's images into a task."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

    from samovar.artifacts.saved_model import SavedModel
    from samovar.artifacts.saved_regression import SavedRegression
    from samovar.data.images.user_images import Unreadable

USUAL_RATE = 0.05
"""The share of images that belong but may be rejected by mistake, with --reject auto."""

LONG_WORK = 100
"""Images that take so long that a progress bar is shown."""


def fit(  # noqa: PLR0913 - each parameter is a flag
    *,
    support: Path,
    task: Path,
    model: str = "photos",
    encoder: str | None = None,
    preprocessing: str | None = None,
    add: bool = False,
    reject: float | Literal["auto", "never"] = "auto",
    samples: int = 128,
    cache: bool = True,
    device: str = "auto",
    seed: int = 0,
) -> int:
    """Turn a few labelled images into a classifier. This takes seconds: nothing is trained.

    The task file holds the class names and what the model has made of the images, but no images.
    Images that cannot be read are named and skipped; the exit code is then 1.

    Args:
        support: The folder of your images: it has one folder for each class, with the images
            inside.
        task: The task file to write, such as pets.safetensors.
        model: A shipped model (photos for photographs at real size; glyphs, omniglot and cifar_fs
            for small images), a model folder or a run folder.
        encoder: What turns images into vectors, instead of the model's own encoder:
            efficientnet_lite0, efficientnet_lite2 or the path of an ONNX file. The task remembers
            it. The numbers that photos has learned are those for efficientnet_lite0: with another
            encoder its probabilities are not measured, though each task adapts its temperature
            to its own images, each left out (benchmarks/photos_model.py learns them anew). For a
            model that was trained on vectors: where its encoder is now.
        preprocessing: How images are prepared for an ONNX file: imagenet, clip, siglip, or a JSON
            file. Without it, a JSON file beside the ONNX file is read.
        add: Add the images to an existing task: more examples, or whole new classes. The model,
            --reject, --samples and --seed stay as they were when the task was made.
        reject: Answer "none of these" where an image is too far from all classes. The number is the
            share of images that belong to a class and are rejected by mistake, as measured on
            tasks of held-out classes. auto is 0.05 if the model has thresholds for rejection.
        samples: The number of classifiers that are averaged.
        cache: Keep the vectors of an encoder, so that the same image is encoded once (at most 1 GB
            in all, in the folder of the variable SAMOVAR_CACHE).
        device: cpu, cuda, mps, or auto.
        seed: Seeds the sampled classifiers.
    """
    from rich.console import Console

    from samovar.classifier.answer import AnswerParameters
    from samovar.classifier.chosen_encoder import choose_encoder
    from samovar.classifier.loading import (
        fit_task,
        load_fitted,
        ready_model,
        save_fitted,
        stored_name,
    )
    from samovar.core.devices import device_named
    from samovar.core.files import output_folder
    from samovar.core.text import printable
    from samovar.data.images.user_images import labelled_folder
    from samovar.errors import SettingsError
    from samovar.reporting.task_summary import TaskSummary, described_model
    from samovar.reporting.terminal import report_skipped

    if add and preprocessing is not None:
        raise SettingsError("--preprocessing cannot be changed with --add: leave it out.")
    paths, names = labelled_folder(support)
    output_folder(task.parent)  # fails now rather than after the images are read
    torch_device = device_named(device)
    note = ""
    if add:
        fitted, info = load_fitted(task, None, torch_device, encoder)
        model = info.model
        place = info.model
        parameters = info.parameters
        images = _read_images(paths, names, fitted.saved, model, cache=cache)
        fitted = fitted.extended(images.inputs, images.labels)
    else:
        ready = ready_model(model, torch_device)
        saved = choose_encoder(ready, encoder, preprocessing)
        note = _another_encoder(model, ready, saved)
        place = stored_name(model)
        parameters = AnswerParameters(samples, _rate(reject, saved), seed=seed)
        parameters.check(saved.rejection)
        images = _read_images(paths, names, saved, model, cache=cache)
        fitted = fit_task(saved, torch_device, images.inputs, images.labels)
    measured = fitted.leave_one_out(parameters)
    save_fitted(task, fitted, place, parameters, measured)

    named = fitted.saved.encoder if fitted.saved.encoder_is_chosen else None
    summary = TaskSummary.of(task, described_model(model, named), fitted.task, measured)
    Console().print(summary.table())
    print(note, end="")
    rejection = printable(fitted.rejection_note(parameters.reject))
    print(f"Rejection: {rejection}{_why_not(fitted.saved)}.")
    name = printable(str(task))
    print(f"Written: {name}. Next: samovar predict {name} IMAGE...")
    return report_skipped(images.unreadable)


class _Images(NamedTuple):
    """Images as the model takes them, with their labels, and those that cannot be read."""

    inputs: "list[Tensor]"
    labels: list[str]
    unreadable: "list[Unreadable]"


def _another_encoder(
    model: str, ready: "SavedModel | SavedRegression", saved: "SavedModel | SavedRegression"
) -> str:
    """Return a sentence about an encoder that the model has learned nothing about; else nothing."""
    if ready.encoder is None or saved.encoder is None:
        return ""
    if ready.encoder.identity == saved.encoder.identity:
        return ""
    return (
        f"Encoder: {model} was trained on vectors of {ready.encoder.name}. Its probabilities and "
        f"thresholds are not measured for {saved.encoder.name}.\n"
    )


def _read_images(
    paths: list[Path],
    names: list[str],
    saved: "SavedModel | SavedRegression",
    model: str,
    *,
    cache: bool,
) -> _Images:
    """Read and convert the support images; a class of which none can be read is an error."""
    from samovar.classifier.user_inputs import read_inputs
    from samovar.errors import DataError
    from samovar.reporting.cache import vector_cache
    from samovar.reporting.progress_bar import progress_bar

    with (
        vector_cache(wanted=cache and saved.encoder is not None) as vectors,
        progress_bar("reading images", quiet=len(paths) < LONG_WORK) as progress,
    ):
        read, inputs, unreadable = read_inputs(paths, saved, model, progress, vectors)
    name_of = dict(zip(paths, names, strict=True))
    labels = [name_of[path] for path in read]
    for image in unreadable:
        name = name_of[image.path]
        if name not in labels:
            raise DataError(f"No image of the class {name!r} can be read: {image.reason}")
    return _Images(inputs, labels, unreadable)


def _rate(
    reject: float | Literal["auto", "never"], saved: "SavedModel | SavedRegression"
) -> float | None:
    """Return the rate of rejection that the flag asks for; None rejects nothing."""
    if reject == "never":
        return None
    if reject != "auto":
        return reject
    if saved.rejection is None:
        return None
    return USUAL_RATE


def _why_not(saved: "SavedModel | SavedRegression") -> str:
    """Return the reason if nothing can be rejected."""
    if saved.rejection is None:
        return "; this model has no thresholds for rejection"
    return ""
