"""Devices and processes, which are lightning-fabric's: one, several, or those that torchrun or SLURM launched."""

import os
import time
from typing import Any

import torch
from lightning_fabric import Fabric
from lightning_fabric.strategies.ddp import DDPStrategy

from samovar.errors import RunError
from samovar.settings.training import Devices


def make_fabric(devices: Devices, *, precision: Any = "32-true", unused: bool = False) -> Fabric:
    """Processes and number format; under torchrun, as many processes as it launched.

    `unused`: some parameters get no gradient in an update, as with auxiliary co-training, which has two losses.
    """
    count, nodes = devices.devices, devices.nodes
    if torch.distributed.is_torchelastic_launched():
        count = int(os.environ["LOCAL_WORLD_SIZE"])
        nodes = int(os.environ["WORLD_SIZE"]) // count
    strategy: Any = DDPStrategy(find_unused_parameters=unused) if count * nodes > 1 else "auto"
    try:
        return Fabric(
            accelerator=devices.accelerator,
            devices=count,
            num_nodes=nodes,
            strategy=strategy,
            precision=precision,
        )
    except (
        Exception
    ) as error:  # its errors are many, and all mean that these devices are not to be had
        raise RunError(
            f"{count} x {devices.accelerator} on {nodes} host(s) cannot be had here: {error}"
        ) from error


def leave_together(fabric: Fabric) -> None:
    """Nobody leaves while another is at work; groups left to the interpreter's end may abort by their threads.

    gloo's threads let go of the last message's Python objects a moment after it has arrived, for which they need the
    interpreter's lock; the group's destructor waits for the threads while it holds that lock. Whoever destroys the
    group at once may wait forever (it was seen to), so the threads are given half a second without the lock.
    """
    fabric.barrier()
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        time.sleep(0.5)
        torch.distributed.destroy_process_group()
