"""`samovar fit`: a user's own images become a task."""

from pathlib import Path
from typing import Literal


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

    return fit_folder(
        support,
        task,
        model=model,
        add=add,
        reject=reject,
        samples=samples,
        device=device,
        seed=seed,
    )
