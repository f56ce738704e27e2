"""The encoder that a user names: another one for the closed form, or the new place of the same.

The closed form takes vectors of any encoder. A network that was trained on vectors takes those of
its own encoder only, wherever that is now; where it does not know which one that was, the user may
say so. A network that takes images has no encoder.
"""

from pathlib import Path
from typing import Any

from samovar.artifacts.saved_model import SavedModel
from samovar.artifacts.saved_regression import SavedRegression
from samovar.artifacts.uses_encoder import with_encoder
from samovar.encoders.base import Encoder
from samovar.encoders.choice import as_encoder
from samovar.encoders.encoder_facts import EncoderFacts, is_onnx_path
from samovar.encoders.preprocessing import Preprocessing
from samovar.errors import ModelError, SamovarError, SettingsError

Saved = SavedModel | SavedRegression
AnyPreprocessing = Preprocessing | str | None


def choose_encoder(saved: Saved, encoder: Any, preprocessing: AnyPreprocessing = None) -> Saved:
    """Return a model that encodes images by the encoder that a user names, if any.

    Args:
        saved: The model.
        encoder: A name, the path of an ONNX file, an Encoder, or a function; None for the model's.
        preprocessing: That of an ONNX file, unless it lies beside it.
    """
    if encoder is None:
        if preprocessing is not None:
            raise SettingsError("--preprocessing is for an ONNX file: name it with --encoder.")
        return saved
    if isinstance(saved, SavedRegression):
        return with_encoder(saved, _any_encoder(saved.encoder, encoder, preprocessing))
    if saved.encoder is not None:
        return same_encoder(saved, encoder, preprocessing)
    _check_takes_vectors(saved)
    found = as_encoder(encoder, preprocessing)
    expected = saved.model.settings.size
    if found.length != expected:
        raise ModelError(
            f"The encoder {found.name} makes vectors of {found.length} numbers, but this model was "
            f"trained on vectors of {expected}. Name the encoder that made those."
        )
    return with_encoder(saved, found)


def same_encoder(saved: Saved, encoder: Any, preprocessing: AnyPreprocessing = None) -> Saved:
    """Return a model or task whose encoder the user names again, as when its file has moved."""
    if encoder is None:
        return saved
    facts = saved.encoder
    if facts is None:
        assert isinstance(saved, SavedModel)
        _check_takes_vectors(saved)
        raise ModelError(
            "This task does not know which encoder made its vectors. Fit it again with --encoder."
        )
    if preprocessing is None and _is_path(encoder):
        preprocessing = facts.preprocessing
    found = as_encoder(encoder, preprocessing)
    if found.identity != facts.identity:
        raise ModelError(
            f"{encoder} is not the encoder that this was made with, {facts.name} (their hashes are "
            f"{found.identity[:12]} and {facts.identity[:12]}). Name the original, or start again "
            "from the images with this one."
        )
    return with_encoder(saved, found)


def _any_encoder(facts: EncoderFacts, encoder: Any, preprocessing: AnyPreprocessing) -> Encoder:
    """Return an encoder for the closed form; an ONNX file may be the model's own, moved."""
    if preprocessing is None and facts.preprocessing is not None and _is_path(encoder):
        try:
            moved = as_encoder(encoder, facts.preprocessing)
        except SamovarError:  # another file, which needs another preprocessing
            return as_encoder(encoder)
        if moved.identity == facts.identity:
            return moved
    return as_encoder(encoder, preprocessing)


def _is_path(encoder: Any) -> bool:
    return isinstance(encoder, str | Path) and is_onnx_path(str(encoder))


def _check_takes_vectors(saved: SavedModel) -> None:
    if saved.conversion is not None or saved.model.settings.traits.takes == "images":
        raise ModelError(
            "This model reads images by a network of its own and has no encoder. An encoder can be "
            "named for photos, and for models that were trained on vectors."
        )
