"""The models that tasks may be made with: those that are shipped, and the one that was named.

Clients name a model by a word of this list. Neither a request nor an uploaded task file can make
the server look for a model anywhere else.
"""

from pathlib import Path

import torch

from samovar.artifacts.locate import shipped_models
from samovar.classifier.answer import USUAL_RATE, AnswerParameters
from samovar.classifier.chosen_encoder import Saved
from samovar.classifier.loading import ready_model, stored_name
from samovar.service.problems import Problem

DEVICE = torch.device("cpu")
"""One-image requests are answered by small networks, which a processor does well."""


class Models:
    """The models by the names that clients use."""

    def __init__(self, default: str) -> None:
        self.stored = {name: name for name in shipped_models()}
        """What task files call each model, by its name here."""
        place = stored_name(default)
        self.default = place if place in self.stored else Path(place).name
        self.stored.setdefault(self.default, place)

    def ready(self, name: str | None) -> Saved:
        """Return a model that is ready to be fitted."""
        chosen = name or self.default
        if chosen not in self.stored:
            known = ", ".join(self.stored)
            raise Problem(422, f"There is no model {chosen[:100]!r} here. Choose one of: {known}.")
        return ready_model(self.stored[chosen], DEVICE)

    def name_of(self, place: str) -> str | None:
        """Return the name of the model that a task file calls so; None if it is not one of ours."""
        for name, stored in self.stored.items():
            if stored == place:
                return name
        return None

    def warm_up(self) -> None:
        """Load the default model and its network, which takes a second or two."""
        saved = self.ready(None)
        if saved.encoder is not None:
            saved.open_encoder()


def parameters_of(saved: Saved, reject: str | None) -> AnswerParameters:
    """Return how a task answers, by the `reject` of a request: a share, "auto" or "never"."""
    rate: float | None = USUAL_RATE if saved.rejection is not None else None
    if reject == "never":
        rate = None
    elif reject not in (None, "auto"):
        rate = _number(str(reject))
    parameters = AnswerParameters(reject=rate)
    parameters.check(saved.rejection)
    return parameters


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        detail = f"reject takes a share such as 0.05, auto or never, but not {text[:100]!r}."
        raise Problem(422, detail) from None
