"""Devices and processes by lightning-fabric: one, several, or those of torchrun or SLURM."""

import os
import time
from typing import Any

import torch
from lightning_fabric import Fabric
from lightning_fabric.strategies.ddp import DDPStrategy

from samovar.errors import RunError
from samovar.settings.training import Devices


def make_fabric(devices: Devices, *, precision: Any = "32-true", unused: bool = False) -> Fabric:
    """Return the processes and the number format; under torchrun, as many processes as it launched.

    `unused` says that some parameters get no gradient in an update, as with auxiliary co-training,
    which has two losses.
    """
    count = devices.devices
    nodes = devices.nodes
    if torch.distributed.is_torchelastic_launched():
        count = int(os.environ["LOCAL_WORLD_SIZE"])
        nodes = int(os.environ["WORLD_SIZE"]) // count
    strategy: Any = "auto"
    if count * nodes > 1:
        strategy = DDPStrategy(find_unused_parameters=unused)
    try:
        return Fabric(
            accelerator=devices.accelerator,
            devices=count,
            num_nodes=nodes,
            strategy=strategy,
            precision=precision,
        )
    except Exception as error:  # Fabric raises many types, all because it cannot have these devices
        raise RunError(
            f"Cannot use {count} {devices.accelerator} device(s) on {nodes} host(s): {error}"
        ) from error


def leave_together(fabric: Fabric) -> None:
    """Wait until every process is done, then close the group of processes.

    A group that is left to the end of the interpreter may abort from its threads. gloo's threads
    release the Python objects of the last message a moment after it has arrived, for which they
    need the interpreter's lock; the group's destructor waits for these threads while it holds that
    lock. Destroying the group at once can therefore wait forever (we have seen it), so the threads
    get half a second without the lock.
    """
    fabric.barrier()
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        time.sleep(0.5)
        torch.distributed.destroy_process_group()
