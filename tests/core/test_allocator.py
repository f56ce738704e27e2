"""Keeping memory changes no result."""

import platform

import torch

from samovar.core.allocator import tune_allocator


def test_results_are_the_same_to_the_bit():
    images = torch.linspace(-1, 1, 4 * 3 * 64 * 64).view(4, 3, 64, 64)
    kernel = torch.linspace(-1, 1, 8 * 3 * 3 * 3).view(8, 3, 3, 3)
    before = torch.nn.functional.conv2d(images, kernel)
    tuned = tune_allocator()
    assert tuned == (platform.libc_ver()[0] == "glibc")
    assert torch.equal(torch.nn.functional.conv2d(images, kernel), before)
