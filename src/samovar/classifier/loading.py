"""From the name of a model or the file of a task to a model that answers images, and back."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from samovar.artifacts.loaded_models import LOADED_MODELS
from samovar.artifacts.locate import locate_model, shipped_models
from samovar.artifacts.saved_model import SavedModel
from samovar.artifacts.saved_regression import SavedRegression
from samovar.artifacts.uses_encoder import with_encoder_of_task
from samovar.classifier.answer import AnswerParameters
from samovar.classifier.chosen_encoder import same_encoder
from samovar.classifier.fitted_model import FittedModel, fit_model, restored
from samovar.classifier.fitted_regression import FittedRegression, fit_regression
from samovar.classifier.fitted_task import FittedTask
from samovar.classifier.known_scores import KnownScores
from samovar.classifier.leave_one_out import LeaveOneOut
from samovar.classifier.regression_task import RegressionTask
from samovar.classifier.support_names import SupportNames
from samovar.classifier.task_file import TaskInfo, read_task, write_task
from samovar.data.images.conversion import Conversion
from samovar.errors import ModelError
from samovar.models.backbones.layers import TaskBatchNorm, set_norm
from samovar.models.few_shot_model import FewShotModel, channels_last
from samovar.settings.checked import shortened

Fitted = FittedModel | FittedRegression


def ready_model(model: Any, device: torch.device) -> SavedModel | SavedRegression:
    """Return a model that answers single images on a device.

    Args:
        model: A shipped model, a model folder, a run folder, a name on the Hub, or a SavedModel or
            SavedRegression. It is copied, as is what is kept of a model that was loaded before: the
            original is neither moved to the device nor changed.
        device: Where it will work. A regression stays on the CPU: it needs float64, and is small.
    """
    if not isinstance(model, SavedModel | SavedRegression):
        model = LOADED_MODELS.get(locate_model(model))
    if isinstance(model, SavedRegression):
        return replace(model, model=copy.deepcopy(model.model))
    saved: SavedModel = replace(model, model=copy.deepcopy(model.model))
    _use_running_averages(saved.model)
    channels_last(saved.model.to(device).eval())
    return saved


def _use_running_averages(model: FewShotModel) -> None:
    """Make a model that was trained with episode norm answer one image at a time, or refuse it."""
    norms = [module for module in model.modules() if isinstance(module, TaskBatchNorm)]
    if not any(norm.mode == "episode" for norm in norms):
        return
    # A variance of exactly one everywhere is what a running average starts from.
    if all(bool((norm.running_var == 1).all()) for norm in norms):
        raise ModelError(
            "This model normalises each episode by its own images and has no running averages, "
            "so it cannot answer single images."
        )
    set_norm(model, "running")


def image_conversion(saved: SavedModel, model: Any) -> Conversion:
    """Return how a model converts images; a model of feature vectors is refused by name."""
    if saved.conversion is None:
        raise ModelError(
            f"The model {model} takes feature vectors, not images, and does not know which "
            "encoder made them; name it with --encoder, or use FewShotClassifier from Python."
        )
    return saved.conversion


def fit_task(
    saved: SavedModel | SavedRegression,
    device: torch.device,
    inputs: list[torch.Tensor],
    labels: list[Any],
) -> Fitted:
    """Fit a model of either kind, as `ready_model` returns it.

    The inputs are those of `fit_model` or `fit_regression`.
    """
    if isinstance(saved, SavedRegression):
        return fit_regression(saved, inputs, labels)
    return fit_model(saved, device, inputs, labels)


def stored_name(model: Any) -> str:
    """Return what a task file calls its model: a name, a whole path, or "" for one in memory."""
    if isinstance(model, SavedModel | SavedRegression):
        return ""
    name = str(model)
    if isinstance(model, str) and (name in shipped_models() or not Path(name).exists()):
        return name  # shipped, or on the Hub
    # The task may be read from another working directory.
    return str(Path(name).resolve())


def save_fitted(
    path: Path,
    fitted: Fitted,
    model: str,
    parameters: AnswerParameters,
    measured: LeaveOneOut | None,
    support: SupportNames | None = None,
) -> None:
    """Write the file of a task: class names, sums or vectors, the model's hash, and no images.

    Args:
        path: The file.
        fitted: The fitted model.
        model: Where the model is, as `stored_name` says.
        parameters: How images are to be answered.
        measured: What `fitted.leave_one_out` has found.
        support: The file names of its images, where they are known.
    """
    if support is not None:
        support = support.with_wrong(measured)
    encoder = None
    if fitted.saved.encoder_is_chosen:
        encoder = fitted.saved.encoder
    identity = fitted.saved.identity
    temperature = None
    if isinstance(fitted, FittedModel):
        temperature = fitted.temperature
    info = TaskInfo(
        model,
        identity,
        parameters,
        measured,
        fitted.spread,
        encoder,
        support,
        fitted.held_out,
        left_out_scores(fitted, measured),
        temperature,
    )
    write_task(path, fitted.task, info)


def left_out_scores(fitted: Fitted, measured: LeaveOneOut | None) -> KnownScores | None:
    """Return the scores of left-out support images: just measured, or read from the task's file.

    A regression has none: it keeps all vectors, and makes its sets from them.
    """
    if measured is not None:
        return measured.scores
    if isinstance(fitted, FittedModel):
        return fitted.stored_scores
    return None


def load_fitted(
    path: Path, model: Any, device: torch.device, encoder: Any = None
) -> tuple[Fitted, TaskInfo]:
    """Read the file of a task and load its model.

    Args:
        path: A task file.
        model: Where the model is now, if it has moved; None means where the file says. Its hash
            must be the same.
        device: Where it will work.
        encoder: Where the encoder is now, if it has moved; its hash must be the same.
    """
    task, info = read_task(path)
    if model is None:
        model = _model_of_task(path, info.model)
    saved = with_encoder_of_task(ready_model(model, device), info.encoder)
    info.parameters.check(saved.rejection)
    # Features of one model mean nothing to another, even if their width is the same.
    if saved.identity != info.identity:
        raise ModelError(_another_model(path, model))
    saved = same_encoder(saved, encoder)
    fitted = _restored(saved, device, task, info)
    if fitted is None:
        raise ModelError(f"{path} does not fit the model {model}.")
    fitted = replace(fitted, held_out=info.held_out)
    if isinstance(fitted, FittedModel):
        fitted = replace(fitted, stored_scores=info.left_out_scores)
    return fitted, info


def _another_model(path: Path, model: Any) -> str:
    """Say that a task was fitted with other weights, and what to do if they were shipped once."""
    if not isinstance(model, str | Path):
        return f"{path} belongs to another model than the one that was given (their hashes differ)."
    if str(model) not in shipped_models():
        return f"{path} belongs to another model than {model} (their hashes differ)."
    return (
        f"{path} belongs to another model than the `{model}` of this version. Fit it again from "
        "its images (`samovar fit`), or name a folder with the former model by --model (model= in "
        "Python)."
    )


def _model_of_task(path: Path, name: str) -> str | Path:
    """Return where the model of a task file is; it is not fetched because a file says so."""
    if name == "":
        raise ModelError(f"{path} does not say where its model is; pass it as `model`.")
    try:
        folder = locate_model(name, fetch=False)
    except ModelError as error:
        raise ModelError(
            f"{path} belongs to the model {shortened(name)}, which is not here. If it has moved, "
            "or is to be fetched from the Hub, name it with --model (model= in Python)."
        ) from error
    if name in shipped_models() or Path(name).exists():
        return name
    return folder


def _restored(
    saved: SavedModel | SavedRegression,
    device: torch.device,
    task: FittedTask | RegressionTask,
    info: TaskInfo,
) -> Fitted | None:
    """Return the fitted model of a stored task; None if the task is not one of such a model."""
    if isinstance(saved, SavedRegression):
        if isinstance(task, FittedTask) or task.vectors.shape[1] != saved.encoder.length:
            return None
        return FittedRegression(saved, task)
    if isinstance(task, RegressionTask) or task.totals.shape[1] != saved.model.feature_dim:
        return None
    if (saved.model.task_embedding is not None) != (task.conditioned is not None):
        return None
    return restored(saved, device, task, info.spread, info.temperature)
