"""Groups of operators: siblings that one definition or lowering in TVM serves."""

import re

_MEMBERS = {
    "attention": ("nn.attention", "nn.attention_var_len"),
    # Both are topi/scan.py.
    "scan": ("cumprod", "cumsum"),
    # All run the packed functions of TVM's contrib/sort.
    "sort": ("argsort", "median", "sort", "topk"),
}
_GROUPS = {member: group for group, members in _MEMBERS.items() for member in members}

_CHECKED = {
    # InferTypePool1D, 2D and 3D in src/relax/op/nn/pooling.cc, of maxima and averages alike.
    "nn.avg_pool": "nn.pool",
    "nn.max_pool": "nn.pool",
}
"""Groups that have one type rule, though two definitions or lowerings."""

_SPATIAL = re.compile(r"\d+d(?=_|$)")
"""The number of spatial dimensions in a name: ``1d`` in ``nn.conv1d_transpose``."""


def group_of(operator: str) -> str:
    """The group of ``operator``: ``nn.conv_transpose`` for ``nn.conv2d_transpose``.

    Operators that differ in their number of spatial dimensions alone are siblings. An operator
    without siblings is a group by its own name.
    """
    return _GROUPS.get(operator) or _SPATIAL.sub("", operator)


def checked_group_of(operator: str) -> str:
    """As ``group_of``, of operators whose arguments one type rule in TVM checks, or does not."""
    group = group_of(operator)
    return _CHECKED.get(group, group)
