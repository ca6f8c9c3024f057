"""For each plant of the importer of PyTorch programs, a function that it makes wrong.

Examples are small: the smallest call that has what the plant misreads.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True, slots=True)
class Example:
    """A function or a module, and the tensors that it is exported with and called on.

    ``dynamic``: the first dimension of each is, and it is called on one more row.
    """

    function: Callable[..., Any]
    inputs: tuple[torch.Tensor, ...]
    decomposed: bool = True
    dynamic: bool = False


def _ramp(*shape: int) -> torch.Tensor:
    """Numbers of different magnitude and sign."""
    count = 1
    for size in shape:
        count *= size
    return (torch.arange(count, dtype=torch.float32) * 0.75 - count / 4).reshape(shape).sin() * 2


def _written(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[..., 1:].mul_(2)
    return y


def _branching(flag: torch.Tensor, x: torch.Tensor) -> Any:
    return torch.cond(flag, lambda a: a + 1, lambda a: a * 3, [x])


class _Held(nn.Module):  # type: ignore[misc]
    """Adds what it holds, which float16 does not have."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), 1 / 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The sum."""
        return x + self.weight


_TRUE = torch.tensor(True)
_PLACES = torch.tensor([-1, 1])
_MASK = torch.tensor([[True, False, True], [True, True, False], [True, True, True]])


EXAMPLES: Mapping[str, Example] = {
    "torch-add-ignores-alpha": Example(lambda x: torch.add(x, x, alpha=2), (_ramp(3),)),
    "torch-sum-drops-keepdim": Example(lambda x: x.sum(1, keepdim=True), (_ramp(2, 3),)),
    "torch-mean-counts-from-before-the-last": Example(lambda x: x.mean(-2), (_ramp(2, 3, 3),)),
    "torch-softmax-is-along-the-first-axis": Example(lambda x: x.softmax(1), (_ramp(2, 3),)),
    "torch-cumsum-is-along-the-first-axis": Example(lambda x: x.cumsum(1), (_ramp(2, 3),)),
    "torch-convolution-swaps-its-padding": Example(
        lambda x, w: F.conv2d(x, w, padding=(1, 0)), (_ramp(1, 2, 4, 5), _ramp(2, 2, 3, 2))
    ),
    "torch-convolution-ignores-dilation": Example(
        lambda x, w: F.conv2d(x, w, dilation=2), (_ramp(1, 2, 5, 5), _ramp(2, 2, 2, 2))
    ),
    "torch-convolution-ignores-stride": Example(
        lambda x, w: F.conv2d(x, w, stride=2), (_ramp(1, 2, 5, 5), _ramp(2, 2, 2, 2))
    ),
    "torch-layer-norm-ignores-eps": Example(
        lambda x: F.layer_norm(x, (4,), eps=0.5), (_ramp(2, 4),)
    ),
    "torch-group-norm-ignores-eps": Example(
        lambda x: F.group_norm(x, 2, eps=0.5), (_ramp(2, 4, 3),)
    ),
    "torch-clamp-loses-its-upper-bound": Example(lambda x: torch.clamp(x, -1.0, 0.5), (_ramp(5),)),
    "torch-slice-ignores-its-step": Example(lambda x: x[:, ::2], (_ramp(2, 5),)),
    "torch-select-of-the-last-takes-the-first": Example(lambda x: x[:, -1], (_ramp(2, 3),)),
    "torch-gelu-ignores-approximate": Example(lambda x: F.gelu(x, approximate="tanh"), (_ramp(6),)),
    "torch-average-pool-counts-padding": Example(
        lambda x: F.avg_pool2d(x, 2, padding=1, count_include_pad=False), (_ramp(1, 1, 4, 4),)
    ),
    "torch-max-pool-ignores-ceil-mode": Example(
        lambda x: F.max_pool2d(x, 2, 2, ceil_mode=True), (_ramp(1, 1, 5, 5),)
    ),
    "torch-upsample-ignores-align-corners": Example(
        lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=True),
        (_ramp(1, 1, 3, 3),),
    ),
    "torch-attention-ignores-is-causal": Example(
        lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True),
        (_ramp(1, 2, 3, 4),),
        decomposed=False,
    ),
    "torch-sort-is-ascending": Example(
        lambda x: torch.sort(x, dim=1, descending=True)[0], (_ramp(2, 4),)
    ),
    "torch-topk-takes-the-largest": Example(
        lambda x: torch.topk(x, 2, largest=False)[0], (_ramp(5),)
    ),
    "torch-variance-is-corrected-by-one": Example(
        lambda x: torch.var(x, 1, correction=0), (_ramp(2, 4),)
    ),
    "torch-truncated-division-rounds-down": Example(
        lambda x: torch.div(x, 0.75, rounding_mode="trunc"), (_ramp(6),)
    ),
    "torch-pad-ignores-its-value": Example(lambda x: F.pad(x, (1, 2), value=2.0), (_ramp(3),)),
    "torch-gather-is-along-the-first-axis": Example(
        lambda x, i: torch.gather(x, 1, i), (_ramp(2, 3), torch.tensor([[1, 0], [0, 1]]))
    ),
    "torch-leaky-relu-ignores-its-slope": Example(lambda x: F.leaky_relu(x, 0.25), (_ramp(6),)),
    "torch-index-put-does-not-accumulate": Example(
        lambda x, i: x.index_put((i,), torch.ones(2), accumulate=True),
        (_ramp(3), torch.tensor([0, 2])),
    ),
    "torch-permute-is-undone": Example(lambda x: x.permute(1, 2, 0), (_ramp(2, 3, 4),)),
    "torch-index-takes-negative-places-for-the-first": Example(
        lambda x, i: x[i], (_ramp(3, 2), _PLACES)
    ),
    "torch-cat-joins-in-the-other-order": Example(
        lambda x, y: torch.cat([x, y]), (_ramp(3), _ramp(2))
    ),
    "torch-where-swaps-its-values": Example(
        lambda m, x: torch.where(m, x, -x), (_MASK, _ramp(3, 3))
    ),
    "torch-embedding-has-no-row-of-padding": Example(
        lambda i, w: F.embedding(i, w, padding_idx=1), (torch.tensor([0, 1]), _ramp(3, 4))
    ),
    "torch-attention-ignores-its-mask": Example(
        lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m),
        (_ramp(1, 2, 3, 4), _ramp(1, 2, 3, 3)),
        decomposed=False,
    ),
    "torch-view-writes-are-lost": Example(_written, (_ramp(3, 4),)),
    "torch-mul-keeps-the-first-dtype": Example(
        lambda x, y: x * y, (torch.tensor([1, 2, 3]), _ramp(3))
    ),
    "torch-sizes-are-those-of-the-example": Example(
        lambda x: x.reshape(x.shape[0] * 2, 2), (_ramp(3, 4),), dynamic=True
    ),
    "torch-subtraction-is-reversed": Example(lambda x, y: x - y, (_ramp(3), _ramp(1))),
    "torch-cond-swaps-its-branches": Example(_branching, (_TRUE, _ramp(3))),
    "torch-outputs-are-reversed": Example(lambda x: (x + 1, x * 2), (_ramp(3),)),
    "torch-constants-are-rounded": Example(_Held(), (_ramp(3),)),
}
