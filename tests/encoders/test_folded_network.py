"""Folding a batch norm changes nothing, and padding is TensorFlow's."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from samovar.encoders.folded_network import (
    Block,
    Convolution,
    FoldedNetwork,
    fold,
    same_padding,
)


def test_a_folded_convolution_is_the_convolution_and_its_norm():
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(2, 3, 9, 9, generator=generator)
    weight = torch.randn(4, 3, 3, 3, generator=generator)
    scale, shift, mean = torch.randn(3, 4, generator=generator)
    variance = torch.rand(4, generator=generator) + 0.1
    plain = functional.batch_norm(
        functional.conv2d(images, weight), mean, variance, scale, shift, eps=1e-3
    )
    folded, bias = fold(weight, scale, shift, torch.stack([mean, (variance + 1e-3).sqrt()]))
    torch.testing.assert_close(functional.conv2d(images, folded, bias), plain, atol=1e-5, rtol=1e-5)


@given(size=st.integers(1, 300), kernel=st.sampled_from([1, 3, 5]), stride=st.integers(1, 3))
def test_padding_gives_as_many_positions_as_the_stride_fits(size, kernel, stride):
    before, after = same_padding(size, kernel, stride)
    assert after - before in (0, 1)
    padded = size + before + after
    if padded >= kernel:
        assert (padded - kernel) // stride + 1 == -(-size // stride)


def test_length_is_that_of_the_last_convolution():
    convolution = Convolution(torch.zeros(7, 3, 1, 1), torch.zeros(7))
    assert FoldedNetwork((Block((convolution,)),), 8).length == 7
