"""An encoder in whatever form a user names one."""

from pathlib import Path
from typing import Any

from samovar.encoders.base import Encoder
from samovar.encoders.callable_encoder import CallableEncoder
from samovar.encoders.encoder_facts import EncoderFacts, open_encoder
from samovar.encoders.preprocessing import Preprocessing
from samovar.encoders.registry import find_encoder
from samovar.errors import SettingsError


def as_encoder(choice: Any, preprocessing: Preprocessing | str | None = None) -> Encoder:
    """Return the encoder that a user means.

    Args:
        choice: A name, the path of an ONNX file, an Encoder, what a file says of one, or any
            function from a list of upright RGB PIL images to vectors (n, length). The name of a
            function stands for it in task files.
        preprocessing: That of an ONNX file, as `find_encoder` takes it.

    >>> import numpy as np
    >>> def sizes(images):
    ...     return np.array([image.size for image in images])
    >>> as_encoder(sizes).name, as_encoder(sizes).length
    ('sizes', 2)
    """
    if isinstance(choice, str | Path):
        return find_encoder(choice, preprocessing)
    if preprocessing is not None:
        raise SettingsError("A preprocessing can only be given for an ONNX file.")
    if isinstance(choice, Encoder):
        return choice
    if isinstance(choice, EncoderFacts):
        return open_encoder(choice)
    if callable(choice):
        return CallableEncoder(choice, _name_of(choice))
    raise SettingsError(
        "An encoder is a name, the path of an ONNX file, an Encoder or a function from images to "
        f"vectors, but {choice!r} was given."
    )


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", None)
    if isinstance(name, str):
        return name
    return type(function).__name__  # an object that can be called, such as a torch module
