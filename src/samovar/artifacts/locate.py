"""Where a model is: shipped, in a folder, in a run, or on the Hub."""

import contextlib
import re
from pathlib import Path

from samovar.errors import ModelError

CONFIG, WEIGHTS, CARD = "config.json", "model.safetensors", "README.md"
SHIPPED = Path(__file__).parent / "shipped"


def shipped_models() -> list[str]:
    """Names of the models that come with the package."""
    return sorted(path.parent.name for path in SHIPPED.glob(f"*/{CONFIG}"))


def locate_model(name: str | Path) -> Path:
    """The folder of a shipped model, the model of a run folder, a model folder, or one fetched from the Hub."""
    if str(name) in shipped_models():
        return SHIPPED / str(name)
    path = Path(name)
    with contextlib.suppress(OSError):  # a name that is too long for a path is not one
        if (path / "model" / CONFIG).exists():
            return path / "model"
        if path.exists():
            return path
    if isinstance(name, str) and re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        return _from_hub(name)
    raise ModelError(
        f"There is no model {str(name)!r}: neither a folder nor a shipped one ({', '.join(shipped_models())})."
    )


def evaluation_folder(model: Path) -> Path:
    """Where the evaluation of a located model goes: into its run or its folder; here for what is shipped."""
    if model.parent == SHIPPED:
        return Path("evaluation") / model.name
    return (model.parent if model.name == "model" else model) / "evaluation"


def _from_hub(name: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise ModelError(
            f"There is no folder {name!r}. To fetch it from the Hub: pip install huggingface_hub."
        ) from error
    try:
        return Path(snapshot_download(name, allow_patterns=[CONFIG, WEIGHTS, CARD]))
    except Exception as error:  # the library's errors are many, and all mean the same to the user
        raise ModelError(
            f"{name} is no folder here, and could not be fetched from the Hub ({error})."
        ) from error
