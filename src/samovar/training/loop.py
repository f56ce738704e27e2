"""The training loop: every update a function of (settings, update), so that a run can stop anywhere and go on.

Devices, mixed precision and several processes are lightning-fabric's. Ranks share the tasks of an update, each loss
weighted by its number of tasks.
"""

import contextlib
import copy
import dataclasses
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from lightning_fabric import Fabric
from torch import Tensor

from samovar.artifacts.saved_model import SavedModel, load_model, save_model
from samovar.core.progress import Watch
from samovar.core.randomness import generator
from samovar.data.batches import AuxiliaryBatch, BatchSource
from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler
from samovar.data.images.user_images import conversion_of
from samovar.errors import RunError
from samovar.evaluation.accuracy import Accuracy, measure_accuracy
from samovar.evaluation.rejection_thresholds import measure_rejection
from samovar.evaluation.task_runner import TaskRunner
from samovar.models.backbones.layers import set_norm, synchronize
from samovar.models.few_shot_model import FewShotModel, Output, channels_last
from samovar.models.noise import TaskNoise
from samovar.settings.training import TrainSettings
from samovar.training.checkpoint import TrainingProgress, load_checkpoint, save_checkpoint
from samovar.training.optimization import (
    decay_and_clip,
    decays,
    has_auxiliary_step,
    make_optimizer,
    step_size,
)
from samovar.training.run_folder import RunFolder
from samovar.training.setup import (
    check_world,
    normalisation_of,
    store_dataset,
)


@dataclass(frozen=True)
class Run:
    """A finished run."""

    folder: Path
    settings: TrainSettings
    model: SavedModel
    """The best model on validation."""
    test: Accuracy


class Training:
    """One process's part of a run."""

    def __init__(
        self,
        fabric: Fabric,
        settings: TrainSettings,
        folder: RunFolder,
        dataset: Dataset,
        model: FewShotModel,
        watch: Watch,
    ) -> None:
        self.fabric, self.settings, self.folder, self.watch = fabric, settings, folder, watch
        world, rank = fabric.world_size, fabric.global_rank
        check_world(settings, world, fabric.device)
        self.own = [
            task for task in range(settings.tasks) if task * world // settings.tasks == rank
        ]
        self.normalisation = normalisation_of(settings, dataset)
        self.source = BatchSource(
            dataset, self.normalisation, fabric.device, settings.seed, settings.augmentation
        )
        self.sampler = EpisodeSampler(
            dataset, settings.episodes, settings.seed, group=settings.tasks
        )
        self.validation, self.test = (
            store_dataset(settings, part, dataset.store) for part in ("val", "test")
        )
        for part in (self.validation, self.test):
            # complains before any work is done
            EpisodeSampler(part, settings.validation.protocol(settings.seed).tasks, settings.seed)
        if world > 1 and settings.model.norm == "running":
            synchronize(model)
        self.model = channels_last(model)
        self._set_up_optimizers()

    def _set_up_optimizers(self) -> None:
        decay = decays(self.model, self.settings.optimizer)
        named = list(self.model.named_parameters())
        groups = {"few_shot": [(n, p) for n, p in named if not n.startswith("auxiliary_head")]}
        if self.model.auxiliary_head is not None:
            groups["auxiliary"] = [
                (n, p) for n, p in named if n.split(".")[0] in ("backbone", "auxiliary_head")
            ]
        self.decays = {
            key: [(p, decay.get(n, 0.0)) for n, p in members] for key, members in groups.items()
        }
        self.optimizers = {
            key: make_optimizer([p for _, p in members], self.settings.optimizer)
            for key, members in groups.items()
        }
        self.wrapped, *wrapped = self.fabric.setup(self.model, *self.optimizers.values())
        self.wrapped_optimizers = dict(zip(self.optimizers, wrapped, strict=True))

    def run(self, beginning: str | None = None) -> TrainingProgress:
        """All updates that are left; `beginning` is said where it is the first."""
        found, complaints = load_checkpoint(self.folder.checkpoints, self.model, self.optimizers)
        progressed = found or TrainingProgress(0)
        for complaint in complaints:
            self.watch({"event": complaint})
        if found is not None:
            self.watch({"event": f"going on after update {found.update}"})
        elif beginning is not None:
            self.watch({"event": beginning})
        if self.fabric.is_global_zero:
            self.folder.cut_metrics(progressed.update)
        self.fabric.barrier()
        started, start = time.perf_counter(), progressed.update
        while progressed.update < self.settings.updates and not progressed.finished:
            with self._randomness(progressed.update):
                figures = self._update(progressed.update)
            progressed = dataclasses.replace(progressed, update=progressed.update + 1)
            self._trace(progressed.update, figures, started, start)
            progressed = self._validate_and_save(progressed)
        return progressed

    @contextlib.contextmanager
    def _randomness(self, update: int) -> Iterator[None]:
        """A user's own module may draw from torch's global state: it too is a function of (seed, update, rank)."""
        if self.settings.model.backbone != "custom":
            yield
            return
        with torch.random.fork_rng(
            [self.fabric.device] if self.fabric.device.type == "cuda" else []
        ):
            noise = generator(self.settings.seed, "own backbone", update, self.fabric.global_rank)
            torch.manual_seed(int(noise.integers(2**62)))
            yield

    def _update(self, update: int) -> dict[str, Tensor]:
        self.wrapped.train()
        settings, size = (
            self.settings,
            step_size(self.settings.optimizer, update, self.settings.updates),
        )
        if self.model.auxiliary_head is not None and has_auxiliary_step(
            settings.seed, update, settings.updates
        ):
            part, share = self._auxiliary_part(
                self.source.auxiliary(update, settings.auxiliary_batch)
            )
            self._step("auxiliary", self.wrapped(part), share, size, update)
        tasks = range(self.own[0], self.own[-1] + 1)
        batch_of_tasks = self.source.tasks(self.sampler, update, tasks)
        output = self.wrapped(
            batch_of_tasks, TaskNoise(settings.seed, update, tasks, self.fabric.device)
        )
        share = len(tasks) * self.fabric.world_size / settings.tasks
        norm = self._step("few_shot", output, share, size, update)
        return output.figures | {"gradient_norm": norm, "share": torch.tensor(share)}

    def _auxiliary_part(self, batch: AuxiliaryBatch) -> tuple[AuxiliaryBatch, float]:
        """This rank's images and the weight of their loss; episode norm needs them all, on every rank."""
        world, rank = self.fabric.world_size, self.fabric.global_rank
        if self.settings.model.norm == "episode":
            return batch, 1.0
        part = AuxiliaryBatch(batch.images[rank::world], batch.labels[rank::world])
        return part, len(part.labels) * world / len(batch.labels)

    def _step(self, which: str, output: Output, share: float, size: float, update: int) -> Tensor:
        optimizer = self.wrapped_optimizers[which]
        for group in self.optimizers[which].param_groups:
            group["lr"] = size
        optimizer.zero_grad()
        self.fabric.backward(output.loss * share)
        norm = decay_and_clip(self.decays[which], self.settings.optimizer)
        if not (math.isfinite(output.loss.item()) and math.isfinite(norm.item())):
            saved = sorted(path.stem for path in self.folder.checkpoints.glob("*.json"))
            raise RunError(
                f"The {which.replace('_', '-')} loss or its gradient is not finite at update {update + 1} "
                f"(step size {size:.2g}). The last good checkpoint is {saved[-1] if saved else 'none'}. "
                "Use a lower --optimizer.learning-rate, or clip gradients with --optimizer.clip."
            )
        optimizer.step()
        return norm

    def _trace(self, update: int, figures: dict[str, Tensor], started: float, start: int) -> None:
        if update % self.settings.trace_every and update != self.settings.updates:
            return
        share = figures.pop("share").item()
        line: dict[str, Any] = {"update": update}
        for name, value in figures.items():
            largest = name.startswith("largest")
            value = value.float() if largest else value.float() * share
            reduced = self.fabric.all_reduce(value, reduce_op="max" if largest else "mean")
            assert isinstance(reduced, Tensor)
            line[name] = reduced.item()
        episodes = self.settings.episodes
        queries = episodes.queries * (1 if episodes.pooled_queries else episodes.way)
        images = self.settings.tasks * (episodes.way * episodes.shot + queries)
        seconds = time.perf_counter() - started
        line["images_per_second"] = round((update - start) * images / seconds, 1)
        line["seconds_left"] = round((self.settings.updates - update) * seconds / (update - start))
        if self.fabric.is_global_zero:
            self.folder.log(line)
        self.watch(line)

    def _validate_and_save(self, progressed: TrainingProgress) -> TrainingProgress:
        settings, update = self.settings, progressed.update
        last = update == settings.updates
        if update % settings.validation.every == 0 or last:
            accuracy = self.fabric.broadcast(
                self._validate() if self.fabric.is_global_zero else 0.0
            )
            better = accuracy > progressed.best
            waited = 0 if better else progressed.waited + 1
            stop = 0 < settings.validation.patience <= waited
            progressed = dataclasses.replace(progressed, waited=waited, finished=stop or last)
            if better:
                progressed = dataclasses.replace(progressed, best=accuracy, best_update=update)
            if self.fabric.is_global_zero:
                if better:
                    self._save_best(accuracy, update)
                line = {"update": update, "validation_accuracy": accuracy}
                self.folder.log(line)
                self.watch(line)
        if (
            update % settings.checkpoint_every == 0 or progressed.finished
        ) and self.fabric.is_global_zero:
            save_checkpoint(self.folder.checkpoints, self.model, self.optimizers, progressed)
        return progressed

    def _validate(self) -> float:
        evaluator = TaskRunner(self.model, self.validation, self.normalisation, self.fabric.device)
        return measure_accuracy(
            evaluator, self.settings.validation.protocol(self.settings.seed)
        ).mean

    def _save_best(self, accuracy: float, update: int) -> None:
        figures = {"validation accuracy": f"{100 * accuracy:.2f} %", "update": update}
        facts = {
            "data": self.validation.store.name,
            "data_identity": self.validation.store.identity,
            "licence": self.validation.store.facts["licence"],
            "figures": figures,
        }
        training = facts | {"settings": dataclasses.asdict(self.settings)}
        conversion = conversion_of(self.validation.store)
        save_model(
            SavedModel(self.model, self.normalisation, training, conversion), self.folder.model
        )

    def finish(self, progressed: TrainingProgress) -> Run:
        """Test the best model and write its card."""
        settings = self.settings
        own = copy.deepcopy(self.model.backbone) if settings.model.backbone == "custom" else None
        best = load_model(self.folder.model, own)
        channels_last(best.model.to(self.fabric.device))
        evaluator = TaskRunner(best.model, self.test, self.normalisation, self.fabric.device)
        protocol = settings.validation.protocol(settings.seed, test=True)
        test = measure_accuracy(evaluator, protocol)
        figures = {
            "validation accuracy": f"{100 * progressed.best:.2f} % (update {progressed.best_update})",
            f"test accuracy, {protocol}, {settings.model.norm} norm, {self.test.description}": str(
                test
            ),
        }
        inductive = copy.deepcopy(best.model)  # as it is used on single images
        set_norm(inductive, "running")
        held_out = TaskRunner(inductive, self.validation, self.normalisation, self.fabric.device)
        rejection = measure_rejection(held_out, settings.seed, settings.validation.test_tasks)
        training = best.training | {"figures": figures}
        saved = dataclasses.replace(best, training=training, rejection=rejection)
        save_model(saved, self.folder.model)
        return Run(self.folder.path, settings, saved, test)
