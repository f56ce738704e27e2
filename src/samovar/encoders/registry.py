"""Encoders by name, or by the path of an ONNX file."""

from collections.abc import Callable
from pathlib import Path

from samovar.encoders.base import Encoder
from samovar.encoders.efficientnet_lite import LITE0, LITE2, EfficientNetLite
from samovar.encoders.onnx_encoder import OnnxEncoder
from samovar.encoders.preprocessing import Preprocessing
from samovar.errors import ModelError, SettingsError

Build = Callable[[], Encoder]

_BUILDS: dict[str, Build] = {
    "efficientnet_lite0": lambda: EfficientNetLite(LITE0),
    "efficientnet_lite2": lambda: EfficientNetLite(LITE2),
}
_BUILT: dict[str, Encoder] = {}
"""Encoders do not change, so each is built once in a process."""


def encoder_names() -> list[str]:
    """Return the names that `find_encoder` knows."""
    return list(_BUILDS)


def register_encoder(name: str, build: Build) -> None:
    """Make an encoder available by name; `build` is called when it is first asked for.

    >>> from samovar.encoders.callable_encoder import CallableEncoder
    >>> def mean_colour(images):
    ...     return images.mean((1, 2))
    >>> register_encoder("mean colour", lambda: CallableEncoder(mean_colour, "mean colour", 8))
    >>> find_encoder("mean colour").length
    3
    """
    _BUILDS[name] = build
    _BUILT.pop(name, None)


def find_encoder(
    name_or_path: str | Path,
    preprocessing: Preprocessing | str | None = None,
    *,
    remember: bool = True,
) -> Encoder:
    """Return an encoder by name, or from an ONNX file.

    The preprocessing of an ONNX file is given here (as a value, by name, or as the path of a JSON
    file) or lies beside it. Named encoders have their own. An ONNX file is tried in a process of
    its own when it is first used; with `remember=False` that is not noted in the cache.
    """
    name = str(name_or_path)
    if name in _BUILDS:
        if preprocessing is not None:
            raise SettingsError(
                f"The encoder {name} has its own preprocessing; another one can only be given for "
                "an ONNX file."
            )
        if name not in _BUILT:
            _BUILT[name] = _BUILDS[name]()
        return _BUILT[name]
    path = Path(name_or_path)
    if path.suffix.lower() == ".onnx" or path.exists():
        return OnnxEncoder(path, preprocessing, remember=remember)
    raise ModelError(
        f"There is no encoder {name!r}. Give one of {', '.join(_BUILDS)}, or the path of an ONNX "
        "file."
    )
