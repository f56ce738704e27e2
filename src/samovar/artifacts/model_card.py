"""The README of a model folder, in the form that model hubs use."""

from typing import Any

from samovar.artifacts.training_record import TrainingRecord
from samovar.models.few_shot_model import FewShotModel

RECIPE = {"tasks", "episodes", "optimizer", "updates", "data", "seed"}
"""Settings that the sentence about the training needs."""


def model_card(model: FewShotModel, record: TrainingRecord) -> str:
    """Return the card of a model: what it is, what it was trained on, and how well it does."""
    settings = model.settings
    parameters = sum(parameter.numel() for parameter in model.parameters())
    data = record.data or "unknown data"
    licence = record.licence or "unknown"
    kind = f"classifier: {settings.classifier}; batch norm: {settings.norm}"
    lines = [
        "---",
        "library_name: samovar",
        "tags: [few-shot, image-classification, bayesian]",
        "---",
        f"# {settings.method} with {settings.backbone}, trained on {data}",
        "",
        f"{parameters:,} parameters; {kind}.",
        "",
        "| metric | value |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in record.figures.items()),
        "",
    ]
    recipe = _recipe(record.settings)
    if recipe is not None:
        lines += [recipe, ""]
    lines += [
        f"Data licence: {licence}. The full settings are in config.json.",
        "",
        "Limits: measured on tasks drawn from the named data. On other images, accuracy may be",
        "lower and probabilities less well calibrated.",
        "",
    ]
    return "\n".join(lines)


def _recipe(stored: dict[str, Any] | None) -> str | None:
    """Say how the model was trained, if the stored settings tell all of it; nothing is guessed."""
    if stored is None or not stored.keys() >= RECIPE:
        return None
    episodes = stored["episodes"]
    optimizer = stored["optimizer"]
    shape = f"{episodes['way']}-way {episodes['shot']}-shot"
    steps = f"{optimizer['kind']} at {optimizer['learning_rate']:g}, {optimizer['schedule']}"
    scheme = ""
    if stored["data"]["scheme"]:
        scheme = f", split {stored['data']['scheme']}"
    updates = f"{stored['updates']:,} updates of {stored['tasks']} tasks each"
    return f"Trained by {updates} ({shape}; {steps}{scheme}), seed {stored['seed']}."
