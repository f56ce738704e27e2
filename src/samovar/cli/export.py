"""`samovar export`: a fitted task as one file for other programs."""

from pathlib import Path
from typing import Annotated

import tyro

from samovar.cli.task_argument import check_task
from samovar.errors import SettingsError


def export(
    task: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")],
    *,
    onnx: Path,
    overwrite: bool = False,
    model: str | None = None,
    encoder: str | None = None,
    json: bool = False,
) -> None:
    """Write a task and its network as one ONNX model, which needs neither samovar nor torch.

    Its input `pixels` is a batch of pictures, (n, size, size, 3) uint8 in RGB, resized and cropped
    as its metadata says (for photos: the shorter side to 256 pixels, bicubic, and the central 224 x
    224 of them). Its outputs are `probabilities` (n, classes) and `distance` (n,), which tells how
    little a picture belongs to the classes: beyond the threshold it is none of these. The metadata
    holds the labels, the preprocessing and the threshold. The file is tried in ONNX Runtime before
    it is written, and must give the same answers as samovar to 0.0001.

    Args:
        task: A task file written by `samovar fit`, of a model with an encoder, such as photos.
        onnx: The file to write, such as mine.onnx.
        overwrite: Replace an existing file.
        model: Where the task's model is now, if it has moved.
        encoder: Where the ONNX file of the task's encoder is now, if it has moved.
        json: Print JSON.
    """
    from samovar.core.files import output_folder

    check_task(task)
    if onnx.exists() and not overwrite:
        raise SettingsError(f"{onnx} exists already. Use --overwrite, or another name.")
    output_folder(onnx.parent)

    # Only now, since torch takes longer to load than all the checks.
    import json as json_format

    import torch

    from samovar.classifier.exported_task import try_export
    from samovar.classifier.loading import load_fitted
    from samovar.core.files import write_whole
    from samovar.core.text import printable

    fitted, info = load_fitted(task, model, torch.device("cpu"), encoder)
    exported = try_export(fitted, info.parameters)
    write_whole(onnx, exported.content)
    if json:
        print(json_format.dumps(exported.to_json(), indent=1))
        return
    size = len(exported.content) / 1e6
    print(printable(f"Written: {onnx} ({size:.1f} MB)."))
    print(f"Input: pixels {exported.input}, uint8. Outputs: probabilities, distance.")
    print(f"Largest difference from samovar on test pictures: {exported.difference:.1e}.")
