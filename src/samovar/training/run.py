"""A training run from beginning to end: prepare, train, test the best model, write its card."""

import contextlib
import copy
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from lightning_fabric import Fabric
from torch import nn

from samovar.artifacts.saved_model import SavedModel, load_network, save_model
from samovar.artifacts.training_record import TestResult, ValidationResult
from samovar.core.processes import leave_together, make_fabric
from samovar.core.progress import Watch, event, silent
from samovar.data.preparation import ready
from samovar.data.store import Store, data_folder
from samovar.encoders.encoder_facts import encoder_of
from samovar.errors import RunError
from samovar.evaluation.accuracy import Accuracy, measure_accuracy
from samovar.evaluation.calibration_fit import fit_calibration
from samovar.evaluation.rejection_thresholds import measure_rejection
from samovar.evaluation.task_runner import TaskRunner
from samovar.evaluation.transferred_quantiles import measure_quantiles
from samovar.models.backbones.layers import set_norm
from samovar.models.few_shot_model import FewShotModel, channels_last
from samovar.settings.presets import Preset
from samovar.settings.training import Devices, TrainSettings
from samovar.training.checkpoint import TrainingProgress
from samovar.training.loop import Training
from samovar.training.run_folder import RunFolder
from samovar.training.setup import RunData, Start, build_model, start_from


@dataclass(frozen=True)
class Run:
    """A finished run."""

    folder: Path
    settings: TrainSettings
    model: SavedModel
    """The best model on validation."""
    test: Accuracy
    """Its accuracy on the test tasks."""
    test_runner: TaskRunner = field(repr=False, compare=False)
    """Runs further tasks on the test split, whose images it has embedded already."""


def train(  # noqa: PLR0913 - public, and every parameter but the first has a default
    settings: TrainSettings | Preset,
    out: Path | None = None,
    *,
    preset: str = "own",
    devices: Devices | None = None,
    init: str | Path | None = None,
    backbone: nn.Module | None = None,
    model: type[FewShotModel] = FewShotModel,
    watch: Watch = silent,
) -> Run | None:
    """Train settings or a preset in a run folder, or go on where the run was stopped.

    Processes other than the first return None.

    Args:
        settings: What to train; a preset brings its settings and its name.
        out: The run folder; runs/PRESET by default.
        preset: The name to store with the settings.
        devices: Where to train; one device, a GPU if there is one, by default.
        init: A model to take the first weights from: shipped, a run folder or a model folder.
        backbone: Your own torch module from images (B, C, H, W) to vectors (B, model.size);
            needs `model.backbone="custom"` in the settings.
        model: Your own subclass of FewShotModel, for example with another objective.
        watch: Called with every line of metrics, and with {"event": text} for news.
    """
    if isinstance(settings, Preset):
        preset = settings.name
        settings = settings.settings
    if (settings.model.backbone == "custom") != (backbone is not None):
        raise RunError('Your own module (`backbone`) and model.backbone="custom" go together.')
    fabric = _launch(settings, devices or Devices())
    first = fabric.is_global_zero
    if not first:
        watch = silent
    folder = RunFolder(out or Path("runs") / preset)
    with _taken(folder, settings, first=first):
        data = RunData.open(settings, _prepared(fabric, settings.data.name, watch))
        network = build_model(model, settings, backbone)
        start = None
        if init is not None:
            start = start_from(network, init, backbone)
        training = Training(fabric, settings, folder, data, network, watch)
        if first:
            # Only now, after all checks, is the folder bound to these settings.
            folder.begin(preset, settings, _origin(data, start, model))
        message = None if start is None else start.message
        progress = training.run(message)
        run = None
        if first:
            run = finish(training, progress)
        leave_together(fabric)  # the others wait until the first has tested
        return run


def _launch(settings: TrainSettings, devices: Devices) -> Fabric:
    """Start the processes."""
    # With an auxiliary loss, no loss uses all parameters. DDP must know, or it waits for gradients
    # that never come.
    unused = settings.model.auxiliary_classes > 0
    fabric = make_fabric(devices, precision=settings.precision, unused=unused)
    fabric.launch()
    return fabric


@contextlib.contextmanager
def _taken(folder: RunFolder, settings: TrainSettings, *, first: bool) -> Iterator[None]:
    """Hold the run folder; the first process does it for all."""
    if not first:
        yield
        return
    try:
        folder.take(settings)
        yield
    finally:
        folder.release()


def _origin(data: RunData, start: Start | None, model: type[FewShotModel]) -> dict[str, str | None]:
    """Return what a run starts from besides its settings, for a resumed run to compare."""
    origin = {
        "images and split of the data": data.store.identity,
        "--init": None if start is None else start.identity,
        "class of the model": model.__name__,
    }
    encoder = encoder_of(data.store)
    if encoder is not None:
        origin["encoder of the vectors"] = encoder.identity
    return origin


def _prepared(fabric: Fabric, name: str, watch: Watch) -> Store:
    """Return the data, prepared by the first process while the others wait."""
    with fabric.rank_zero_first():
        if not (data_folder() / name).exists():
            watch(event(f"preparing {name}"))
        return ready(name)


def finish(training: Training, progress: TrainingProgress) -> Run:
    """Test the best model, measure what goes with it, and save it with its card."""
    settings = training.settings
    folder = training.folder
    # The best model may be of an earlier update, so it is read from the folder.
    best = _load_best(training)
    channels_last(best.model.to(training.fabric.device))
    test_split = training.data.test
    runner = TaskRunner(best.model, test_split, training.data.normalisation, training.fabric.device)
    protocol = settings.validation.protocol(settings.seed, test=True)
    test = measure_accuracy(runner, protocol)
    record = best.record.with_test(
        ValidationResult(progress.best, progress.best_update),
        TestResult(test.mean, test.ci95),
        f"{protocol}, {settings.model.norm} norm, {test_split.description}",
    )
    saved = _measured(training, replace(best, training=record.to_json()))
    save_model(saved, folder.model)
    return Run(folder.path, settings, saved, test, runner)


def _load_best(training: Training) -> SavedModel:
    backbone = None
    # A copy, since loading the best weights must not change the user's module.
    if training.settings.model.backbone == "custom":
        backbone = copy.deepcopy(training.model.backbone)
    return load_network(training.folder.model, backbone, type(training.model))


def _measured(training: Training, saved: SavedModel) -> SavedModel:
    """Return the model with its thresholds, calibration and quantiles, from validation classes."""
    settings = training.settings
    runner = _inductive_runner(training, saved.model)
    tasks = settings.validation.test_tasks
    rejection = measure_rejection(runner, settings.seed, tasks)
    # Quantiles are those of calibrated probabilities.
    runner.calibration = fit_calibration(runner, settings.seed, tasks)
    return replace(
        saved,
        rejection=rejection,
        calibration=runner.calibration,
        set_quantiles=measure_quantiles(runner, settings.seed, tasks),
    )


def _inductive_runner(training: Training, model: FewShotModel) -> TaskRunner:
    """Return what runs tasks of the validation classes as single images are answered.

    That is with running norm, so thresholds, calibration and quantiles are measured with it.
    """
    inductive = copy.deepcopy(model)
    set_norm(inductive, "running")
    data = training.data
    return TaskRunner(inductive, data.validation, data.normalisation, training.fabric.device)
