"""The metrics of a run: reduced over the ranks, timed, and written to metrics.jsonl."""

import time
from dataclasses import dataclass
from typing import Any

from lightning_fabric import Fabric
from torch import Tensor

from samovar.core.progress import Watch
from samovar.settings.training import TrainSettings
from samovar.training.run_folder import RunFolder

MAXIMA = frozenset({"largest_weight_variance", "largest_bias_variance"})
"""Metrics of which the maximum over all tasks is logged; of all others it is the mean."""


@dataclass(frozen=True)
class UpdateMetrics:
    """The metrics of an update on this rank."""

    values: dict[str, Tensor]
    share: float
    """This rank's number of tasks, relative to the mean over the ranks: the weight of its means."""


class Trace:
    """Logs metrics, and tells them to whoever watches."""

    def __init__(
        self, fabric: Fabric, settings: TrainSettings, folder: RunFolder, watch: Watch
    ) -> None:
        self.fabric = fabric
        self.settings = settings
        self.folder = folder
        self.watch = watch
        self.start(0)

    def start(self, update: int) -> None:
        """Start the clock. A resumed run starts after a later update than the first."""
        self.first = update
        self.seconds = time.perf_counter()

    def update(self, update: int, metrics: UpdateMetrics) -> None:
        """Log the metrics at regular updates, and at the last."""
        if update % self.settings.trace_every and update != self.settings.updates:
            return
        line: dict[str, Any] = {"update": update}
        for name, value in metrics.values.items():
            line[name] = self._over_ranks(name, value.float(), metrics.share)
        seconds = time.perf_counter() - self.seconds
        # This process may have resumed the run, so its speed is that of its own updates.
        done = update - self.first
        left = self.settings.updates - update
        images = done * self.settings.images_per_update
        line["images_per_second"] = round(images / seconds, 1)
        line["seconds_left"] = round(left * seconds / done)
        self.log(line)

    def log(self, line: dict[str, Any]) -> None:
        """Log a line; only the first rank writes."""
        if self.fabric.is_global_zero:
            self.folder.log(line)
        self.watch(line)

    def _over_ranks(self, name: str, value: Tensor, share: float) -> float:
        if name in MAXIMA:
            reduced = self.fabric.all_reduce(value, reduce_op="max")
        else:
            # Ranks with more tasks weigh more, so that this is the mean over tasks, not over ranks.
            reduced = self.fabric.all_reduce(value * share, reduce_op="mean")
        assert isinstance(reduced, Tensor)
        return reduced.item()
