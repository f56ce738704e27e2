"""`samovar fit`: turn a user's images into a task.

`fit` checks the flags and the paths, loads the model or the task that grows, reads the images, and
prints what came of them. What is wrong with flags and paths is said before torch is loaded.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from samovar.cli.fit_choices import MODEL, REJECT, SAMPLES, SEED, Choices, check_target

if TYPE_CHECKING:
    from samovar.classifier.leave_one_out import LeaveOneOut
    from samovar.classifier.loading import Fitted
    from samovar.classifier.support_names import WrongImage
    from samovar.cli.fit_support import Start, Support
    from samovar.data.images.image_file import ImageFile


def _flag(metavar: str, default: object) -> object:
    """Describe a flag whose absence means its default, or with --add what the task has."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint=f"(default: {default})")


def fit(  # noqa: PLR0913 - each parameter is a flag
    *,
    support: Path,
    task: Path,
    model: Annotated[str | None, _flag("MODEL", MODEL)] = None,
    encoder: str | None = None,
    preprocessing: str | None = None,
    add: bool = False,
    overwrite: bool = False,
    reject: Annotated[str | None, _flag("SHARE|auto|never", REJECT)] = None,
    samples: Annotated[int | None, _flag("INT", SAMPLES)] = None,
    follow_links: bool = False,
    explain: bool = False,
    cache: bool = True,
    device: str = "auto",
    seed: Annotated[int | None, _flag("INT", SEED)] = None,
) -> int:
    """Turn a few labelled images into a classifier. This takes seconds: nothing is trained.

    The task file holds the class names, the names of the files and what the model has made of the
    images, but no images. Images that cannot be read are named and skipped; the exit code is then
    1.

    Args:
        support: Your images: a folder with one folder for each class (which may have folders
            inside), a zip archive of such folders, or a text file with a path, a tab and a label
            in each line.
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
        overwrite: Replace an existing task file.
        reject: Answer "none of these" where an image is too far from all classes. The number is the
            share of images that belong to a class and are rejected by mistake, as measured on
            tasks of held-out classes. auto is 0.05 if the model has thresholds for rejection;
            never rejects nothing.
        samples: The number of classifiers that are averaged.
        follow_links: Follow links that lead out of the folder.
        explain: Also print how the threshold for "none of these" was chosen.
        cache: Keep the vectors of an encoder, so that the same image is encoded once (at most 1 GB
            in all, in the folder of the variable SAMOVAR_CACHE).
        device: cpu, cuda, mps, or auto.
        seed: Seeds the sampled classifiers.
    """
    from samovar.core.files import output_folder
    from samovar.encoders.image_list import labelled_images

    choices = Choices(model, encoder, preprocessing, reject, samples, seed)
    rate = choices.rate()
    if add:
        choices.check_addition(overwrite=overwrite)
    check_target(task, add=add, overwrite=overwrite)
    listed = labelled_images(support, follow_links=follow_links)
    output_folder(task.parent)  # fails now rather than after the images are read

    # Only now, since torch takes longer to load than all the checks.
    from samovar.classifier.loading import save_fitted
    from samovar.cli.fit_support import grown_start, new_start, read_support
    from samovar.core.devices import device_named
    from samovar.core.text import printable
    from samovar.reporting.terminal import report_left_out, report_skipped

    torch_device = device_named(device)
    if add:
        start = grown_start(task, encoder, torch_device)
    else:
        start = new_start(choices, rate, torch_device)
    images = read_support(listed, start, cache=cache)
    fitted = start.fitted_to(images, torch_device)
    measured = fitted.leave_one_out(start.parameters)
    names = start.names_with(images)
    save_fitted(task, fitted, start.place, start.parameters, measured, names)

    wrong = () if names is None else names.with_wrong(measured).wrong
    _print_summary(task, start, fitted, measured, wrong)
    _print_rejection(start, fitted, explain)
    name = printable(str(task))
    print(f"Written: {name}. Next: samovar predict {name} IMAGE...")
    _warn(start, images, [image.file for image in listed.images])
    missed = report_left_out(listed.left_out)
    return max(missed, report_skipped(images.unreadable))


def _print_summary(
    task: Path,
    start: "Start",
    fitted: "Fitted",
    measured: "LeaveOneOut | None",
    wrong: "tuple[WrongImage, ...]",
) -> None:
    """Print the classes, and how well the images are answered by each other."""
    from rich.console import Console

    from samovar.reporting.task_summary import TaskSummary, described_model

    encoder = None
    if fitted.saved.encoder_is_chosen:
        encoder = fitted.saved.encoder
    model = described_model(start.model, encoder)
    summary = TaskSummary.of(task, model, fitted.task, measured, wrong)
    summary.print_to(Console())


def _print_rejection(start: "Start", fitted: "Fitted", explain: bool) -> None:
    """Print what will be called none of these."""
    from samovar.cli.reading import noun_of
    from samovar.core.text import printable

    if start.note:
        print(start.note)
    rate = start.parameters.reject
    note = fitted.rejection_note(rate)
    if rate is not None and not explain:
        belong = f"{100 * rate:g} % of {noun_of(start.saved)} that belong"
        note = f"about {belong} will be called none of these"
    if start.saved.rejection is None:
        note += "; this model has no thresholds for rejection"
    print(f"Rejection: {printable(note)}.")


def _warn(start: "Start", images: "Support", files: "list[ImageFile]") -> None:
    """Say on standard error what may be wrong with the images, or with the choice of the model."""
    from samovar.classifier.copies import copy_notes
    from samovar.classifier.sets import lost_calibration
    from samovar.core.text import printable
    from samovar.reporting.support_notes import mismatch_note

    notes = [*copy_notes(images.copies), mismatch_note(start.saved, start.model, files)]
    if start.task is not None:
        notes.append(lost_calibration(start.task))
    for note in notes:
        if note:
            print(f"samovar: {printable(note)}", file=sys.stderr)
