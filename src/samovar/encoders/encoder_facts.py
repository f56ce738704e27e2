"""Which encoder vectors came from: what files keep of an encoder, and how it is opened again.

The encoder itself is in no file of ours: it comes with a package, is an ONNX file of the user, or a
Python function. Kept are its name or path and the hash of all that its vectors depend on. It is
opened when images are first encoded, and refused if it is another one.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import msgspec

from samovar.data.store import Store
from samovar.encoders.base import Encoder
from samovar.encoders.preprocessing import Preprocessing
from samovar.encoders.registry import encoder_names, find_encoder
from samovar.errors import DataError, ModelError, SamovarError, SettingsError, UnreadableError
from samovar.settings.checked import checked

LONGEST_VECTOR = 1_000_000


@dataclass(frozen=True)
class _StoredFacts:
    """The JSON form of `EncoderFacts`."""

    name: str
    identity: str
    length: Annotated[int, msgspec.Meta(ge=1, le=LONGEST_VECTOR)]
    preprocessing: dict[str, Any] | None = None


@dataclass(frozen=True)
class EncoderFacts:
    """Which encoder a model or a file of vectors needs."""

    name: str
    """A name that `find_encoder` knows, or the path of an ONNX file."""
    identity: str
    length: int
    preprocessing: Preprocessing | None = None
    """That of an ONNX file; named encoders have their own."""

    @classmethod
    def of(cls, encoder: Encoder) -> "EncoderFacts":
        """Return the facts of an encoder."""
        if encoder.file is None:
            return cls(encoder.name, encoder.identity, encoder.length)
        name = str(encoder.file.resolve())
        return cls(name, encoder.identity, encoder.length, encoder.preprocessing)

    @classmethod
    def from_json(cls, stored: Any) -> "EncoderFacts":
        """Read the form of `to_json`; files may hold anything."""
        facts = checked(_StoredFacts, stored)
        preprocessing = None
        if facts.preprocessing is not None:
            preprocessing = Preprocessing.from_json(facts.preprocessing, "its preprocessing")
        return cls(facts.name, facts.identity, facts.length, preprocessing)

    @classmethod
    def of_vectors(cls, stored: dict[str, Any]) -> "EncoderFacts":
        """Read what a file of vectors says of its encoder, the form of `Encoder.to_json`.

        It has the preprocessing of every encoder, and the path of an ONNX file beside its name.
        """
        known = dict(stored)
        if known.get("path") is not None:
            known["name"] = known["path"]
        if not is_onnx_path(str(known.get("name"))):
            known["preprocessing"] = None
        return cls.from_json(known)

    def to_json(self) -> dict[str, Any]:
        """Return the form that config.json and task files hold."""
        preprocessing = None
        if self.preprocessing is not None:
            preprocessing = self.preprocessing.to_json()
        return {
            "name": self.name,
            "identity": self.identity,
            "length": self.length,
            "preprocessing": preprocessing,
        }


def encoder_of(store: Store) -> EncoderFacts | None:
    """Return the encoder that made the vectors of a store, if that is known."""
    if store.encoder is None:
        return None
    try:
        return EncoderFacts.of_vectors(store.encoder)
    except (SettingsError, UnreadableError) as error:
        raise DataError(
            f"{store.name} does not say properly which encoder made its vectors ({error}). "
            "Prepare it again from a file of `samovar embed`."
        ) from error


def is_onnx_path(name: str) -> bool:
    """Return whether an encoder of this name is an ONNX file.

    >>> is_onnx_path("models/clip.onnx"), is_onnx_path("efficientnet_lite0")
    (True, False)
    """
    return Path(name).suffix.lower() == ".onnx"


@lru_cache(maxsize=4)
def open_encoder(facts: EncoderFacts) -> Encoder:
    """Return the encoder that a model needs, or say what to do where there is none or another."""
    try:
        encoder = find_encoder(facts.name, facts.preprocessing)
    except SamovarError as error:
        raise ModelError(
            f"This model needs the encoder {facts.name}, which cannot be used here: "
            f"{error}{_remedy(facts)}"
        ) from error
    if encoder.identity != facts.identity:
        raise ModelError(_another(facts, encoder))
    return encoder


def _remedy(facts: EncoderFacts) -> str:
    if is_onnx_path(facts.name):
        return (
            " If the file is elsewhere now, name its new place with --encoder FILE.onnx "
            "(encoder= in Python)."
        )
    if facts.name in encoder_names():
        return ""  # the error names the package to install
    return (
        " An encoder made of a Python function must be registered first (register_encoder), or "
        "given as `encoder`."
    )


def _another(facts: EncoderFacts, encoder: Encoder) -> str:
    hashes = f"their hashes are {facts.identity[:12]} and {encoder.identity[:12]}"
    if is_onnx_path(facts.name):
        return (
            f"{facts.name} is not the encoder that this model was made with: the file or its "
            f"preprocessing has changed ({hashes}). Restore it, name the place of the original "
            "with --encoder FILE.onnx (encoder= in Python), or make the model again."
        )
    return (
        f"This model was trained with another encoder of the name {facts.name} than the one "
        f"that is here ({hashes}). Install the version of samovar and of the encoder that the "
        "model was made with, or train the model again."
    )
