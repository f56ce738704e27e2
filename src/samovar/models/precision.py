"""What comes after the features is small and delicate: it is computed in float32 even under mixed precision."""

import torch
from torch import Tensor


def full_precision(like: Tensor) -> torch.autocast:
    """A context without autocast on the device of a tensor; tensors that enter must be cast by `.float()`."""
    return torch.autocast(like.device.type, enabled=False)
