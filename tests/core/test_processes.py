"""One process needs no group, and devices that are not there are refused."""

import pytest
import torch
from lightning_fabric.strategies.ddp import DDPStrategy

from samovar.core.processes import leave_together, make_fabric
from samovar.errors import RunError
from samovar.settings.training import Devices


def test_one_process_is_first_and_leaves_at_once():
    fabric = make_fabric(Devices("cpu"))
    fabric.launch()
    assert (fabric.world_size, fabric.is_global_zero) == (1, True)
    leave_together(fabric)
    assert not torch.distributed.is_initialized()


def test_several_processes_share_gradients_and_some_parameters_may_have_none():
    fabric = make_fabric(Devices("cpu", devices=2), unused=True)
    assert isinstance(fabric.strategy, DDPStrategy)
    assert fabric.strategy._ddp_kwargs == {"find_unused_parameters": True}


@pytest.mark.skipif(torch.cuda.is_available(), reason="there are such devices")
def test_devices_that_are_not_there_are_refused():
    with pytest.raises(RunError, match=r"Cannot use 2 cuda device\(s\) on 1 host\(s\)"):
        make_fabric(Devices("cuda", devices=2))
