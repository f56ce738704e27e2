"""The conv backbone pools early and changes no number."""

from copy import deepcopy

import pytest
import torch
from torch.nn import functional

from samovar.models.backbones.conv import Conv
from samovar.models.backbones.layers import NormMode, dropout


@pytest.mark.parametrize("mode", ["running", "episode"])
@pytest.mark.parametrize("training", [True, False])
def test_conv_pools_early_and_changes_no_number(mode: NormMode, training: bool) -> None:
    """Its blocks are VERSA's conv, norm, ReLU, dropout, max-pool, to the bit, whatever order is
    computed.
    """
    torch.manual_seed(0)
    conv = Conv(4, channels=1, size=28, width=8, dropout_rate=0.5, norm=mode)
    x = torch.randn(12, 1, 28, 28)
    with torch.no_grad():
        for norm in conv.norms:
            for tensor in (norm.running_mean, norm.running_var, norm.bias):
                tensor.uniform_(0.5, 2)
    conv.train(training)
    as_written = deepcopy(conv)

    def noise() -> list[torch.Generator] | None:
        return [torch.Generator().manual_seed(task) for task in range(3)] if training else None

    h, generators = x, noise()
    for convolution, norm in zip(as_written.convolutions, as_written.norms, strict=True):
        h = functional.relu(norm(convolution(h), 3))
        h = dropout(h, 0.5, generators) if generators else h
        h = functional.max_pool2d(h, 2, ceil_mode=True)
    features = conv(x, 3, noise=noise())
    assert torch.equal(features, h.flatten(1))
    if training:
        (features.square().sum() + h.square().sum()).backward()
        assert all(
            torch.equal(a.grad, b.grad)
            for a, b in zip(conv.parameters(), as_written.parameters(), strict=True)
        )
