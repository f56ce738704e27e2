"""Train settings or a preset in a run folder, or go on where it stopped."""

from pathlib import Path

from torch import nn

from samovar.core.processes import leave_together, make_fabric
from samovar.core.progress import Watch, unwatched
from samovar.data.prepare import ready
from samovar.data.store import data_folder
from samovar.errors import RunError
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.presets import Preset
from samovar.settings.training import Devices, TrainSettings
from samovar.training.loop import Run, Training
from samovar.training.run_folder import RunFolder
from samovar.training.setup import (
    check_shape,
    start_from,
    store_dataset,
)


def train(
    settings: TrainSettings | Preset,
    out: Path | None = None,
    *,
    preset: str = "own",
    devices: Devices | None = None,
    init: Path | None = None,
    backbone: nn.Module | None = None,
    watch: Watch = unwatched,
) -> Run | None:
    """Train settings or a preset in the run folder `out`, or go on where it stopped.

    The folder is runs/PRESET if not given. `backbone` is a torch module of your own, from images (B, C, H, W) to
    vectors (B, model.size), with `model.backbone="custom"`. Processes other than the first return None.
    """
    if isinstance(settings, Preset):
        preset, settings = settings.name, settings.settings
    if (settings.model.backbone == "custom") != (backbone is not None):
        raise RunError(
            'A module of your own is passed as `backbone` from Python, with model.backbone="custom".'
        )
    unused = settings.model.auxiliary_classes > 0
    fabric = make_fabric(devices or Devices(), precision=settings.precision, unused=unused)
    fabric.launch()
    folder = RunFolder(out or Path("runs") / preset)
    first = fabric.is_global_zero
    try:
        if first:
            folder.take(settings)
        with fabric.rank_zero_first():  # the others find the data prepared
            if first and not (data_folder() / settings.data.name).exists():
                watch({"event": f"preparing {settings.data.name}"})
            store = ready(settings.data.name)
        dataset = store_dataset(settings, "train", store)
        check_shape(settings, dataset)
        model = FewShotModel(settings.model, backbone, settings.seed)
        start = start_from(model, init, backbone) if init is not None else None
        training = Training(fabric, settings, folder, dataset, model, watch if first else unwatched)
        if first:
            origin = {
                "images and split of the data": store.identity,
                "--init": start and start.identity,
            }
            folder.begin(preset, settings, origin)
        progressed = training.run(start.sentence if start else None)
        run = training.finish(progressed) if first else None
        if run is not None:
            folder.record_finish(run.test.mean, run.test.ci95)
        leave_together(fabric)
        return run
    finally:
        if first:
            folder.release()
