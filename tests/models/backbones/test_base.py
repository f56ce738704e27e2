"""The identity backbone hands ready-made vectors through."""

import torch

from samovar.models.backbones.base import Identity


def test_ready_made_vectors_pass_unchanged():
    vectors = torch.randn(6, 4)
    identity = Identity(4)
    assert identity(vectors, groups=2) is vectors
    assert identity.feature_dim == 4
    assert not list(identity.parameters())
