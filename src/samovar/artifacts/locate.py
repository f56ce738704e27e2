"""Where a model is: shipped with the package, in a folder, in a run, or on the Hub."""

import contextlib
import re
from pathlib import Path

from samovar.core.suggestions import did_you_mean
from samovar.errors import ModelError

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
CARD = "README.md"
SHIPPED = Path(__file__).parent / "shipped"


def shipped_models() -> list[str]:
    """Return the names of the models that come with the package."""
    return sorted(path.parent.name for path in SHIPPED.glob(f"*/{CONFIG}"))


def locate_model(name: str | Path, *, fetch: bool = True) -> Path:
    """Return the model folder of a shipped model, a run folder, a model folder, or a Hub model.

    Without `fetch` nothing is downloaded: a model of the Hub must have been fetched before.
    """
    if str(name) in shipped_models():
        return SHIPPED / str(name)
    path = Path(name)
    with contextlib.suppress(OSError):  # a name that is too long for a path is not a folder
        if (path / "model" / CONFIG).exists():
            return path / "model"
        if path.exists():
            return path
    # OWNER/MODEL may be a path too, so folders come first.
    if isinstance(name, str) and re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        return _from_hub(name, fetch=fetch)
    shipped = ", ".join(shipped_models())
    raise ModelError(
        f"There is no model {str(name)!r}: it is neither a folder nor a shipped model ({shipped})."
        f"{did_you_mean(str(name), shipped_models())}"
    )


def evaluation_folder(model: Path) -> Path:
    """Return where the evaluation of a located model goes.

    That is its run or its own folder; for a shipped model, a folder in the current directory.
    """
    if model.parent == SHIPPED:
        return Path("evaluation") / model.name
    if model.name == "model":
        return model.parent / "evaluation"
    return model / "evaluation"


def _from_hub(name: str, *, fetch: bool) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise ModelError(
            f"There is no folder {name!r}. To fetch it from the Hub: pip install huggingface_hub."
        ) from error
    try:
        files = [CONFIG, WEIGHTS, CARD]
        return Path(snapshot_download(name, allow_patterns=files, local_files_only=not fetch))
    except Exception as error:  # the library raises many types, all because it cannot fetch this
        raise ModelError(
            f"There is no folder {name!r}, and the Hub could not provide it ({error})."
        ) from error
