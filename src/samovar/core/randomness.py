"""Random numbers as a function of what they are for, never of hidden state.

Every random number in samovar is f(seed, purpose, counters): the same in whichever process, in
whatever order, and after any interruption. Philox is counter-based, so a key derived from the
arguments is its whole state.
"""

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


def generator(seed: int, purpose: str, *counters: int) -> np.random.Generator:
    """Return the generator of these arguments; the same arguments give the same numbers.

    Draws fill arrays in C order from one stream, so a longer first axis extends a shorter one
    without changing it.

    >>> first, again = (generator(0, "weights", 7) for _ in range(2))
    >>> bool((first.random(3) == again.random(4)[:3]).all())
    True
    """
    # The repr of a tuple keeps (1, 23) and (12, 3) apart, and is the same on every machine.
    name = repr((purpose, int(seed), *map(int, counters)))
    key = hashlib.blake2b(name.encode(), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(key, "little")))


def torch_generator(
    seed: int, purpose: str, *counters: int, device: "torch.device | str" = "cpu"
) -> "torch.Generator":
    """Return the same as a torch generator on a device, for more noise than numpy can draw quickly.

    torch's CPU generator uses 32 bits of the seed, so among millions of arguments a few share their
    numbers.
    """
    import torch

    drawn = generator(seed, purpose, *counters).integers(2**63)
    return torch.Generator(device).manual_seed(int(drawn))
