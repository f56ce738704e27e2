"""What comes after the features is small and delicate: it is computed in full precision."""

import torch
from torch import Tensor


def full_precision(like: Tensor) -> torch.autocast:
    """Return a context without autocast on the device of a tensor.

    Under mixed precision the features arrive in bfloat16. Whoever enters this context casts them by
    `.float()` first.
    """
    return torch.autocast(like.device.type, enabled=False)
