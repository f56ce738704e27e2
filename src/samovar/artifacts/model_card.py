"""The README of a model folder."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the folder writes the card, so the card cannot import the folder
    from samovar.artifacts.saved_model import SavedModel


def model_card(saved: "SavedModel") -> str:
    """The README of a model folder, in the form that model hubs use."""
    settings, training = saved.model.settings, saved.training
    data, figures = training.get("data", "unknown data"), training.get("figures", {})
    parameters = sum(parameter.numel() for parameter in saved.model.parameters())
    lines = [
        "---",
        "library_name: samovar",
        "tags: [few-shot, image-classification, bayesian]",
        "---",
        f"# {settings.method} with {settings.backbone}, trained on {data}",
        "",
        f"{parameters:,} parameters; classifier: {settings.classifier}; batch norm: {settings.norm}.",
        "",
        "| figure | value |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in figures.items()),
        "",
        *_recipe(training.get("settings")),
        f"Data licence: {training.get('licence', 'unknown')}. The full settings are in config.json.",
        "",
        "Limits: measured on tasks drawn from the named data. Other images may be answered worse, with probabilities",
        "that are less calibrated.",
        "",
    ]
    return "\n".join(lines)


def _recipe(stored: dict[str, Any] | None) -> list[str]:
    """How it was trained, in a sentence, where the stored settings tell all of it; nothing is guessed."""
    if (
        stored is None
        or not {"tasks", "episodes", "optimizer", "updates", "data", "seed"} <= stored.keys()
    ):
        return []
    tasks, episodes, optimizer = stored["tasks"], stored["episodes"], stored["optimizer"]
    shape = f"{episodes['way']}-way {episodes['shot']}-shot"
    scheme = f", split {stored['data']['scheme']}" if stored["data"]["scheme"] else ""
    steps = f"{optimizer['kind']} at {optimizer['learning_rate']:g}, {optimizer['schedule']}"
    updates = f"{stored['updates']:,} updates of {tasks} tasks each"
    return [f"Trained by {updates} ({shape}; {steps}{scheme}), seed {stored['seed']}.", ""]
