"""What a user should know about the support images: that a model is not made for them."""

from collections.abc import Sequence

import numpy as np

from samovar.artifacts.saved_model import SavedModel
from samovar.artifacts.saved_regression import SavedRegression
from samovar.data.images.conversion import Conversion
from samovar.data.images.decode import decode
from samovar.data.images.image_file import ImageFile
from samovar.data.images.looks import looks_of
from samovar.errors import DataError

LOOKED_AT = 12
"""Images that are looked at to tell photographs from characters."""


def mismatch_note(
    saved: SavedModel | SavedRegression, model: str, files: Sequence[ImageFile]
) -> str:
    """Return a warning about colour photographs for a model of grey characters; else nothing."""
    if saved.encoder is not None or not isinstance(saved, SavedModel):
        return ""
    conversion = saved.conversion
    if conversion is None or conversion.colour != "grey" or not files:
        return ""
    arrays = []
    # Evenly spaced, so that all classes are among them.
    for position in np.unique(np.linspace(0, len(files) - 1, LOOKED_AT).astype(int)):
        try:
            file = files[position]
            arrays.append(decode(file.read(), file.name, Conversion(64)))
        except DataError:  # it is reported with all others that cannot be read
            continue
    if not arrays or not looks_of(np.stack(arrays)).photographic:
        return ""
    size = f"{conversion.size} x {conversion.size}"
    return (
        f"warning: these look like colour photographs, but the model {model} was trained on grey "
        f"characters and sees {size} pixels without colour. For photographs leave out --model "
        "(the default is photos)."
    )
