"""Work shared between processes: who does what, and how the results come together.

Tasks are handed out in batches of TASKS_AT_ONCE, so that a task has the same neighbours, and with
them the same rounding, however many processes there are. With one process everything here is the
identity.
"""

import numpy as np
import torch
from lightning_fabric import Fabric
from numpy.typing import NDArray
from torch import Tensor

from samovar.errors import RunError

TASKS_AT_ONCE = 20
"""Tasks that are inferred and answered together."""


class Processes:
    """The processes of an evaluation, seen from one of them."""

    def __init__(self, fabric: Fabric | None, device: torch.device) -> None:
        self.device = device
        self.fabric = None
        if fabric is not None and fabric.world_size > 1:
            self.fabric = fabric

    @property
    def count(self) -> int:
        """The number of processes."""
        if self.fabric is None:
            return 1
        return self.fabric.world_size

    def share(self, work: range) -> range:
        """Return this process's part of a range: of every `count` elements, the one of its rank."""
        if self.fabric is None:
            return work
        return work[self.fabric.global_rank :: self.fabric.world_size]

    def share_of_tasks(self, tasks: int) -> list[range]:
        """Return the batches of tasks that this process works on."""
        batches = []
        for first in self.share(range(0, tasks, TASKS_AT_ONCE)):
            batches.append(range(first, min(first + TASKS_AT_ONCE, tasks)))
        return batches

    def check_tasks(self, tasks: int) -> None:
        """Refuse so few tasks that a process would have none."""
        if tasks <= TASKS_AT_ONCE * (self.count - 1):
            raise RunError(
                f"{self.count} processes are too many for {tasks} tasks: each takes at least "
                f"{TASKS_AT_ONCE}. Use fewer processes, or more --episodes."
            )

    def total(self, values: Tensor) -> Tensor:
        """Return the sum over all processes."""
        if self.fabric is None:
            return values
        total = self.fabric.all_reduce(values.to(self.device), reduce_op="sum")
        assert isinstance(total, Tensor)  # fabric also takes collections
        return total

    def gathered(self, rows: Tensor, tasks: int) -> Tensor:
        """Return a row for each of all tasks, in order, from the rows of each process's tasks."""
        if self.fabric is None:
            return rows
        numbers = np.concatenate([np.asarray(batch) for batch in self.share_of_tasks(tasks)])
        # Zeros where other processes have their rows, so that the sum over processes is the union.
        every_row = rows.new_zeros(tasks, *rows.shape[1:])
        every_row[torch.from_numpy(numbers).to(rows.device)] = rows
        return self.total(every_row)

    def gathered_array(self, rows: NDArray[np.generic], tasks: int) -> NDArray[np.generic]:
        """Return what `gathered` does, for an array."""
        if self.fabric is None:
            return rows
        return self.gathered(torch.from_numpy(rows).to(self.device), tasks).cpu().numpy()
