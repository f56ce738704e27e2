"""Full precision for all that comes after the features: it is cheap, and rounding would show."""

import torch
from torch import Tensor


def full_precision(like: Tensor) -> torch.autocast:
    """Return a context without autocast on the device of a tensor.

    Under mixed precision the features arrive in bfloat16. Whoever enters this context casts them by
    `.float()` first.
    """
    return torch.autocast(like.device.type, enabled=False)
