"""The training loop: updates, validation and checkpoints.

Every update is a function of (settings, update), so a run can stop anywhere and go on with the same
bits. lightning-fabric provides devices, mixed precision and several processes (ranks). The ranks
share the tasks of an update, and the loss of each is weighted by its share of them. What comes
before the first update is in `setup`, what comes after the last one in `run`.
"""

import contextlib
import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from lightning_fabric import Fabric
from torch import Tensor

from samovar.artifacts.saved_model import SavedModel, save_model
from samovar.artifacts.training_record import TrainingRecord
from samovar.core.interrupts import StopRequests
from samovar.core.progress import Watch, event
from samovar.core.randomness import generator
from samovar.data.batches import AuxiliaryBatch, BatchSource
from samovar.data.episodes import EpisodeSampler
from samovar.data.images.user_images import conversion_of
from samovar.encoders.encoder_facts import encoder_of
from samovar.errors import DivergedError
from samovar.evaluation.accuracy import measure_accuracy
from samovar.evaluation.task_runner import TaskRunner
from samovar.models.backbones.layers import synchronize
from samovar.models.few_shot_model import FewShotModel, UpdateResult, channels_last
from samovar.models.noise import TaskNoise
from samovar.settings.training import TrainSettings
from samovar.training.checkpoint import TrainingProgress, load_checkpoint, prune, save_checkpoint
from samovar.training.checkpoint_clock import CheckpointClock
from samovar.training.optimization import (
    LossOptimizer,
    decay_and_clip,
    has_auxiliary_step,
    loss_optimizers,
    step_size,
)
from samovar.training.run_folder import RunFolder
from samovar.training.setup import RunData, check_world
from samovar.training.trace import Trace, UpdateMetrics

STOPPING = "stopping after this update, with a checkpoint; a second Ctrl-C stops at once"


def tasks_of_rank(tasks: int, rank: int, ranks: int) -> range:
    """Return the tasks of an update that a rank computes: a block, as even as possible.

    >>> [tasks_of_rank(5, rank, 2) for rank in range(2)]
    [range(0, 3), range(3, 5)]
    """
    start = math.ceil(rank * tasks / ranks)
    stop = math.ceil((rank + 1) * tasks / ranks)
    return range(start, stop)


class Training:
    """The loop of one rank."""

    def __init__(
        self,
        fabric: Fabric,
        settings: TrainSettings,
        folder: RunFolder,
        data: RunData,
        model: FewShotModel,
        watch: Watch,
    ) -> None:
        check_world(settings, fabric.world_size, fabric.device)
        self.fabric = fabric
        self.settings = settings
        self.folder = folder
        self.data = data
        self.watch = watch
        self.trace = Trace(fabric, settings, folder, watch)
        self.clock = CheckpointClock()
        self.tasks = tasks_of_rank(settings.tasks, fabric.global_rank, fabric.world_size)
        self.source = BatchSource(
            data.train, data.normalisation, fabric.device, settings.seed, settings.augmentation
        )
        self.sampler = EpisodeSampler(
            data.train, settings.episodes, settings.seed, group=settings.tasks
        )
        # Running norm takes statistics over all tasks of an update, so ranks must share them.
        # Episode norm takes them within a task, and no task is spread over ranks.
        if fabric.world_size > 1 and settings.model.norm == "running":
            synchronize(model)
        self.model = channels_last(model)
        self.optimizers = loss_optimizers(model, settings.optimizer)
        # Fabric's wrappers do the work of several processes and of mixed precision. Checkpoints
        # are made of what is inside them.
        inner = [loss.optimizer for loss in self.optimizers]
        self.wrapped, *wrapped = fabric.setup(self.model, *inner)
        self.wrapped_optimizers = dict(zip(inner, wrapped, strict=True))

    def run(self, start_message: str | None = None) -> TrainingProgress:
        """Do all updates that are left; a run that starts from the beginning says how.

        Ctrl-C and SIGTERM stop it after the update that is being done, with a checkpoint.
        """
        progress = self._resume(start_message)
        self.trace.start(progress.update)
        self.clock.restart()
        with StopRequests(STOPPING) as requests:
            while progress.update < self.settings.updates and not progress.finished:
                with self._seeded(progress.update):
                    metrics = self._update(progress.update)
                progress = replace(progress, update=progress.update + 1)
                self.trace.update(progress.update, metrics)
                progress = self._validate(progress)
                stopping = self._anywhere(requests.number is not None)
                self._checkpoint(progress, stopping=stopping)
                if stopping:
                    requests.stop()
        return progress

    def _anywhere(self, here: bool) -> bool:
        """Return whether it is so in any process: all must stop after the same update."""
        if self.fabric.world_size == 1:
            return here
        flag = torch.tensor(float(here), device=self.fabric.device)
        reduced = self.fabric.all_reduce(flag, reduce_op="max")
        assert isinstance(reduced, Tensor)
        return bool(reduced.item())

    def _resume(self, start_message: str | None) -> TrainingProgress:
        """Restore the last checkpoint, if there is one."""
        restored, complaints = load_checkpoint(self.folder.checkpoints, self.model, self.optimizers)
        for complaint in complaints:
            self.watch(event(complaint))
        if restored is not None:
            self.watch(event(f"resuming after update {restored.update}"))
        elif start_message is not None:
            self.watch(event(start_message))
        progress = restored or TrainingProgress(0)
        # What was logged after the checkpoint will be logged again.
        if self.fabric.is_global_zero:
            for complaint in self.folder.cut_metrics(progress.update):
                self.watch(event(complaint))
            if restored is not None:
                prune(self.folder.checkpoints, restored.update)
        self.fabric.barrier()
        return progress

    @contextlib.contextmanager
    def _seeded(self, update: int) -> Iterator[None]:
        """Make torch's global random state a function of (seed, update, rank).

        Our own modules do not use it, but a user's backbone or subclass may.
        """
        own_code = type(self.model) is not FewShotModel
        if self.settings.model.backbone != "custom" and not own_code:
            yield
            return
        devices = []
        if self.fabric.device.type == "cuda":
            devices = [self.fabric.device]
        with torch.random.fork_rng(devices):
            noise = generator(self.settings.seed, "own backbone", update, self.fabric.global_rank)
            torch.manual_seed(int(noise.integers(2**62)))
            yield

    def _update(self, update: int) -> UpdateMetrics:
        """Do an update on the tasks, and before it perhaps one on the auxiliary loss."""
        settings = self.settings
        self.wrapped.train()  # validation has left the model in evaluation mode
        few_shot, *auxiliary = self.optimizers
        for loss in auxiliary:
            if has_auxiliary_step(settings.seed, update, settings.updates):
                images, share = self._auxiliary_images(update)
                self._step(loss, self.wrapped(images), share, update)
        # Tasks and noise are those of (seed, update, task), whichever rank computes them.
        batch = self.source.tasks(self.sampler, update, self.tasks)
        noise = TaskNoise(settings.seed, update, self.tasks, self.fabric.device)
        output = self.wrapped(batch, noise)
        share = len(self.tasks) * self.fabric.world_size / settings.tasks
        norm = self._step(few_shot, output, share, update)
        return UpdateMetrics(output.metrics | {"gradient_norm": norm}, share)

    def _auxiliary_images(self, update: int) -> tuple[AuxiliaryBatch, float]:
        """Return this rank's auxiliary images, and the weight of their loss."""
        batch = self.source.auxiliary(update, self.settings.auxiliary_batch)
        if self.settings.model.norm == "episode":
            return batch, 1.0  # its statistics are those of all images, on every rank
        rank = self.fabric.global_rank
        ranks = self.fabric.world_size
        images = AuxiliaryBatch(batch.images[rank::ranks], batch.labels[rank::ranks])
        return images, len(images.labels) * ranks / len(batch.labels)

    def _step(self, loss: LossOptimizer, output: UpdateResult, share: float, update: int) -> Tensor:
        """Move the parameters of a loss by one step; return the norm of its gradient."""
        settings = self.settings
        size = step_size(settings.optimizer, update, settings.updates)
        # The step size is set from the update alone, so no schedule has to be stored.
        for group in loss.optimizer.param_groups:
            group["lr"] = size
        optimizer = self.wrapped_optimizers[loss.optimizer]
        optimizer.zero_grad()
        # Fabric takes the mean of the gradients over the ranks, so each is weighted by its share.
        self.fabric.backward(output.loss * share)
        norm = decay_and_clip(loss.parameters, settings.optimizer)
        if not (math.isfinite(output.loss.item()) and math.isfinite(norm.item())):
            raise self._not_finite(loss.name, update, size)
        optimizer.step()
        return norm

    def _not_finite(self, name: str, update: int, size: float) -> DivergedError:
        if self.fabric.is_global_zero:
            self.folder.note_divergence(update + 1)
        saved = sorted(path.stem for path in self.folder.checkpoints.glob("*.json"))
        last = saved[-1] if saved else "none"
        return DivergedError(
            f"The {name.replace('_', '-')} loss or its gradient is not finite at update "
            f"{update + 1} (step size {size:.2g}). The last good checkpoint is {last}. "
            "Use a lower --optimizer.learning-rate, or clip gradients with --optimizer.clip."
        )

    def _validate(self, progress: TrainingProgress) -> TrainingProgress:
        """Validate at regular updates and after the last; keep the model if it is the best."""
        validation = self.settings.validation
        last = progress.update == self.settings.updates
        if not self._validates_after(progress.update):
            return progress
        # The first rank validates alone; the others need its result to stop at the same update.
        accuracy = 0.0
        if self.fabric.is_global_zero:
            accuracy = self._validation_accuracy()
        accuracy = self.fabric.broadcast(accuracy)
        if accuracy > progress.best:
            progress = replace(progress, best=accuracy, best_update=progress.update, waited=0)
            if self.fabric.is_global_zero:
                self._save_best(progress)
        else:
            progress = replace(progress, waited=progress.waited + 1)
        self.trace.log({"update": progress.update, "validation_accuracy": accuracy})
        out_of_patience = 0 < validation.patience <= progress.waited
        return replace(progress, finished=last or out_of_patience)

    def _validates_after(self, update: int) -> bool:
        return update % self.settings.validation.every == 0 or update == self.settings.updates

    def _validation_accuracy(self) -> float:
        data = self.data
        runner = TaskRunner(self.model, data.validation, data.normalisation, self.fabric.device)
        return measure_accuracy(runner, self.settings.validation.protocol(self.settings.seed)).mean

    def _save_best(self, progress: TrainingProgress) -> None:
        record = TrainingRecord.start(self.data.store, self.settings)
        record = record.with_validation(progress.best, progress.best_update)
        saved = SavedModel(
            self.model,
            self.data.normalisation,
            record.to_json(),
            conversion_of(self.data.store),
            encoder=encoder_of(self.data.store),
        )
        save_model(saved, self.folder.model)

    def _checkpoint(self, progress: TrainingProgress, *, stopping: bool) -> None:
        """Write a checkpoint at regular updates, by time, at the end, and when the run is stopped.

        When it is written changes nothing in the run, so the clock may decide.
        """
        if not self.fabric.is_global_zero:
            return
        regular = progress.update % self.settings.checkpoint_every == 0 or progress.finished
        by_time = self.clock.is_due(validates_next=self._validates_after(progress.update + 1))
        if not (regular or by_time or stopping):
            return
        save_checkpoint(self.folder.checkpoints, self.model, self.optimizers, progress)
        self.clock.restart()
        if stopping:
            self.watch(event(f"stopped; a checkpoint was written after update {progress.update}"))
