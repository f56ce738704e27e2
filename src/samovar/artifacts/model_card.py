"""The README of a model folder, in the form that model hubs use."""

from typing import Any

from samovar.artifacts.training_record import TrainingRecord
from samovar.models.closed_form import ClosedForm
from samovar.models.few_shot_model import FewShotModel

USAGE = """Use it (the shipped model `photos` is the default and needs no `--model`):

    samovar fit --model FOLDER --support MY_PHOTOS --task mine.safetensors
    samovar predict mine.safetensors photo.jpg
"""

RECIPE = {"tasks", "episodes", "optimizer", "updates", "data", "seed"}
"""Settings that the sentence about the training needs."""


def model_card(model: FewShotModel, record: TrainingRecord, encoder: str | None = None) -> str:
    """Return the card of a model: what it is, what it was trained on, and how well it does.

    `encoder` is the name of the encoder whose vectors it takes, if any.
    """
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
        *_encoder_lines(encoder),
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


def _encoder_lines(encoder: str | None) -> list[str]:
    if encoder is None:
        return []
    return [
        f"It takes vectors of the encoder {encoder}, which is not part of this folder: images are",
        "encoded by it first.",
        "",
    ]


def regression_card(model: ClosedForm, encoder: str, record: TrainingRecord) -> str:
    """Return the card of a regression on an encoder's vectors."""
    numbers = sum(parameter.numel() for parameter in model.parameters())
    lines = [
        "---",
        "library_name: samovar",
        "tags: [few-shot, image-classification, bayesian]",
        "---",
        f"# Bayesian linear regression on the vectors of {encoder}",
        "",
        f"The frozen network {encoder} turns photographs into vectors. The weights of the",
        "classifier are inferred exactly from the vectors of the support, and the task's own",
        f"temperature from its left-out images. {numbers} numbers are learned over tasks; the",
        "network is not part of this folder.",
        "",
        USAGE,
        f"Learned on tasks of: {record.data or 'unknown data'}.",
        "",
        f"Licences: {record.licence or 'unknown'}.",
        "",
    ]
    if record.figures:
        lines += ["| metric | value |", "|---|---|"]
        lines += [f"| {name} | {value} |" for name, value in record.figures.items()]
        lines.append("")
    lines += [
        "Limits: the network was trained on ImageNet, so it has seen the classes of miniImageNet",
        "and most of CIFAR-100; results on those are not comparable with few-shot benchmarks. It",
        "sees 224 x 224 pixels from the centre of a photograph: small details and things at the",
        "border are lost. Handwriting, drawings, medical and satellite images are unlike what it",
        "knows, and accuracy is lower there. A change of camera or place between the support and",
        "the photographs to be labelled costs accuracy that the probabilities do not foresee.",
        "",
    ]
    return "\n".join(lines)


def _recipe(stored: dict[str, Any] | None) -> str | None:
    """Say how the model was trained, if the stored settings tell all of it; nothing is guessed."""
    if stored is None or not stored.keys() >= RECIPE:
        return None
    episodes = stored["episodes"]
    optimizer = stored["optimizer"]
    ways = _range(episodes["way"], episodes.get("most_way"))
    shots = _range(episodes["shot"], episodes.get("most_shot"))
    shape = f"{ways}-way {shots}-shot"
    steps = f"{optimizer['kind']} at {optimizer['learning_rate']:g}, {optimizer['schedule']}"
    scheme = ""
    if stored["data"]["scheme"]:
        scheme = f", split {stored['data']['scheme']}"
    updates = f"{stored['updates']:,} updates of {stored['tasks']} tasks each"
    return f"Trained by {updates} ({shape}; {steps}{scheme}), seed {stored['seed']}."


def _range(least: int, most: int | None) -> str:
    if most is None or most == least:
        return str(least)
    return f"{least}- to {most}"
