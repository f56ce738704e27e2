"""How commands read a user's images: with the cache of vectors, and a bar if it takes long."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samovar.artifacts.saved_model import SavedModel
    from samovar.artifacts.saved_regression import SavedRegression
    from samovar.classifier.user_inputs import UserInputs
    from samovar.data.images.image_file import ImageFile

LONG_WORK = 100
"""Images that take so long that a progress bar is shown."""


def read_files(
    files: "Sequence[ImageFile]",
    saved: "SavedModel | SavedRegression",
    model: str,
    *,
    cache: bool,
) -> "UserInputs":
    """Read image files for a model that errors call `model`."""
    from samovar.classifier.user_inputs import read_inputs
    from samovar.reporting.cache import vector_cache
    from samovar.reporting.progress_bar import progress_bar

    with (
        vector_cache(wanted=cache and saved.encoder is not None) as vectors,
        progress_bar("reading images", quiet=len(files) < LONG_WORK) as progress,
    ):
        return read_inputs(files, saved, model, progress, vectors)


def noun_of(saved: "SavedModel | SavedRegression") -> str:
    """Return what to call the images that a model takes: photographs, or only images."""
    conversion = getattr(saved, "conversion", None)
    if conversion is not None and conversion.colour == "grey":
        return "images"
    return "photographs"
