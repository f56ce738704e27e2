"""ResNet-12 as TADAM has it: four blocks of three convolutions, swish, a projected shortcut, optional FiLM."""

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn import functional

from samovar.models.backbones.layers import NormMode, TaskBatchNorm
from samovar.models.task_embedding import Film


class Block(nn.Module):
    """conv-norm-(FiLM)-swish twice, conv-norm-(FiLM), plus conv 1x1-norm of the input, swish, max-pool."""

    def __init__(self, inputs: int, outputs: int, norm: NormMode, pool: bool) -> None:
        super().__init__()
        widths = [inputs, outputs, outputs]
        self.convolutions = nn.ModuleList(
            nn.Conv2d(i, outputs, 3, padding=1, bias=False) for i in widths
        )
        self.norms = nn.ModuleList(
            TaskBatchNorm(outputs, norm, scale=True, momentum=0.05) for _ in widths
        )
        self.shortcut = nn.Conv2d(inputs, outputs, 1, bias=False)
        self.shortcut_norm = TaskBatchNorm(outputs, norm, scale=True, momentum=0.05)
        self.pool = pool

    def forward(self, x: Tensor, groups: int, films: Sequence[Film] | None) -> Tensor:
        """(groups * n, inputs, H, W) -> (groups * n, outputs, H or H / 2, W or W / 2)."""
        h = x
        for i, (convolution, norm) in enumerate(zip(self.convolutions, self.norms, strict=True)):
            h = norm(convolution(h), groups)
            h = films[i](h) if films is not None else h
            h = functional.silu(h) if i < 2 else h
        h = functional.silu(h + self.shortcut_norm(self.shortcut(x), groups))
        return functional.max_pool2d(h, 2, ceil_mode=True) if self.pool else h


class ResNet12(nn.Module):
    """Blocks of width x 1, 2, 4, 8 channels, then the mean over all positions: 512 features at width 64."""

    def __init__(self, channels: int, width: int, pools: int, norm: NormMode) -> None:
        super().__init__()
        self.widths = [width * factor for factor in (1, 2, 4, 8)]
        inputs = [channels, *self.widths[:-1]]
        self.blocks = nn.ModuleList(
            Block(i, o, norm, pool=position < pools)
            for position, (i, o) in enumerate(zip(inputs, self.widths, strict=True))
        )
        self.feature_dim = self.widths[-1]

    def forward(self, x: Tensor, groups: int = 1, films: Sequence[Film] | None = None) -> Tensor:
        """Images (groups * n, C, H, W) -> features (groups * n, d); films are those of the twelve convolutions."""
        for position, block in enumerate(self.blocks):
            x = block(
                x, groups, films[3 * position : 3 * position + 3] if films is not None else None
            )
        return x.mean((2, 3))
