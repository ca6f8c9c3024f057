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

_SPATIAL = re.compile(r"\d+d(?=_|$)")
"""The number of spatial dimensions in a name: ``1d`` in ``nn.conv1d_transpose``."""


def group_of(operator: str) -> str:
    """The group of ``operator``: ``nn.conv_transpose`` for ``nn.conv2d_transpose``.

    Operators that differ in their number of spatial dimensions alone are siblings. An operator
    without siblings is a group by its own name.
    """
    return _GROUPS.get(operator) or _SPATIAL.sub("", operator)
