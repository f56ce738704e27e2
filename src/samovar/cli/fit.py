"""`samovar fit`, `samovar predict`, `samovar task`: a user's own images."""

from pathlib import Path
from typing import Annotated, Literal

import tyro


def fit(
    *,
    support: Path,
    task: Path,
    model: str = "glyphs",
    add: bool = False,
    reject: float | Literal["auto", "never"] = "auto",
    samples: int = 128,
    device: str = "auto",
    seed: int = 0,
) -> int:
    """Turn a few labelled images into a classifier. Takes seconds: nothing is trained.

    SUPPORT is a folder with one folder per class and the images inside. The task file holds the class names and sums of
    features, no images. An image that cannot be read is named and skipped, and the exit code is 1.

    Args:
        support: FOLDER/class/image.
        task: The task file to write, such as pets.safetensors.
        model: A shipped model (glyphs, omniglot, cifar_fs), a model folder or a run folder.
        add: Add the images to the task that is there: more examples, or whole new classes. The other flags stay as they
            were when it was made.
        reject: Answer "none of these" where an image is too far from all classes: the share of images that do belong
            and are rejected all the same, on tasks of held-out classes. auto is 0.05 where the model has measured it.
        samples: Classifiers that are averaged.
        device: cpu, cuda, mps, or auto.
        seed: Of the sampled classifiers.
    """
    from samovar.cli.own_images import fit_folder

    return fit_folder(support, task, model=model, add=add, reject=reject, samples=samples, device=device, seed=seed)


def predict(
    task: Annotated[Path, tyro.conf.Positional],
    images: Annotated[tuple[Path, ...], tyro.conf.Positional],
    *,
    json: bool = False,
    csv: bool = False,
    picture: Path | None = None,
    model: str | None = None,
    device: str = "auto",
    seed: int | None = None,
    out: Path | None = None,
) -> int:
    """Label images by a fitted task: probabilities, uncertainty, and "none of these".

    Prints a table, or JSON or CSV. An image that cannot be read is named and skipped, the rest is answered, and the
    exit code is 1.

    Args:
        task: A task file written by `samovar fit`.
        images: Image files, or folders of them.
        json: Print JSON: a list with an entry for each image that can be read, in the order given.
        csv: Print CSV.
        picture: Draw the images with their answers into this PNG file.
        model: Where the task's model is now, if it has moved.
        device: cpu, cuda, mps, or auto.
        seed: Of the sampled classifiers, if not that of the task.
        out: Folder for predictions.json.
    """
    from samovar.cli.own_images import predict_files
    from samovar.errors import SettingsError

    if json and csv:
        raise SettingsError("Choose one of --json and --csv.")
    if picture is not None and picture.suffix.lower() != ".png":
        raise SettingsError(f"--picture writes a PNG file, so its name ends with .png, unlike {str(picture)!r}.")
    return predict_files(
        task, images, as_json=json, as_csv=csv, picture=picture, model=model, device=device, seed=seed, out=out
    )


def task(path: Annotated[Path, tyro.conf.Positional], *, json: bool = False) -> None:
    """Show what is inside a task file: its model, its classes and how many images each has.

    Args:
        path: A task file written by `samovar fit`.
        json: Print JSON.
    """
    from samovar.cli.own_images import show_task

    show_task(path, as_json=json)
