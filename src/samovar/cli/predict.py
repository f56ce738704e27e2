"""`samovar predict`: images answered by a task."""

from pathlib import Path
from typing import Annotated

import tyro


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
        raise SettingsError(
            f"--picture writes a PNG file, so its name ends with .png, unlike {str(picture)!r}."
        )
    return predict_files(
        task,
        images,
        as_json=json,
        as_csv=csv,
        picture=picture,
        model=model,
        device=device,
        seed=seed,
        out=out,
    )
