"""Randomness as a function of what it is for, never as hidden state.

Every random number in samovar is f(seed, purpose, counters): the same whichever process asks, in whatever order, and
after any interruption. Philox is counter-based, so a key derived from the arguments is the whole state.
"""

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


def generator(seed: int, purpose: str, *counters: int) -> np.random.Generator:
    """The generator that belongs to these arguments; asking again gives the same numbers again.

    Draws fill arrays in C order from one stream, so a longer first axis extends a shorter one without changing it.

    >>> bool((generator(0, "weights", 7).random(3) == generator(0, "weights", 7).random(4)[:3]).all())
    True
    """
    name = repr((purpose, int(seed), *map(int, counters)))
    key = hashlib.blake2b(name.encode(), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(key, "little")))


def torch_generator(
    seed: int, purpose: str, *counters: int, device: "torch.device | str" = "cpu"
) -> "torch.Generator":
    """The same for torch: a generator on a device, for noise in amounts that numpy would draw too slowly.

    torch's CPU generator takes 32 bits of the seed, so that among millions of arguments a few share their numbers.
    """
    import torch

    drawn = generator(seed, purpose, *counters).integers(2**63)
    return torch.Generator(device).manual_seed(int(drawn))
