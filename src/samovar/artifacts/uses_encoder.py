"""What models have in common that answer on an encoder's vectors.

Such a model says which encoder it needs. A user may name another one, or another place of the same;
that choice belongs to the task, and is not part of the model folder.
"""

from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from samovar.encoders.base import Encoder
from samovar.encoders.encoder_facts import EncoderFacts, open_encoder
from samovar.errors import ModelError

Model = TypeVar("Model", bound="UsesEncoder")


@dataclass(frozen=True, kw_only=True)
class UsesEncoder:
    """A model that may need an encoder; `encoder` says which."""

    opened: Encoder | None = field(default=None, repr=False, compare=False)
    """The encoder itself, where the user has given it."""
    encoder_is_chosen: bool = field(default=False, repr=False, compare=False)
    """Whether the user, and not the model, has named the encoder. A task file then remembers it."""

    def open_encoder(self) -> Encoder:
        """Return the encoder, or say what to do where it is not installed or another one."""
        if self.opened is not None:
            return self.opened
        # A field of the models themselves, since only some may go without.
        facts: EncoderFacts | None = getattr(self, "encoder", None)
        if facts is None:
            raise ModelError("This model has no encoder: it takes images or vectors as they are.")
        return open_encoder(facts)


def with_encoder(saved: Model, encoder: Encoder) -> Model:
    """Return a model that encodes images by this encoder, which the user has given."""
    changes: dict[str, Any] = {
        "encoder": EncoderFacts.of(encoder),
        "opened": encoder,
        "encoder_is_chosen": True,
    }
    return replace(saved, **changes)


def with_encoder_of_task(saved: Model, facts: EncoderFacts | None) -> Model:
    """Return a model with the encoder that a task file remembers, if any; nothing is opened."""
    if facts is None:
        return saved
    changes: dict[str, Any] = {"encoder": facts, "opened": None, "encoder_is_chosen": True}
    return replace(saved, **changes)
