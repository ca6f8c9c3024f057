"""Makes ``torch.export`` cheaper: half the time of what it decomposes is spent on bookkeeping.

Both changes are to private parts of PyTorch, and leave what it computes as it is.
"""

import functools
import typing
from typing import Any


def hasten() -> None:
    """Have PyTorch do once in this process what it does for each program; again does nothing."""
    import torch._ops
    import torch.export._trace  # The first export needs it: not in each process that is forked.
    from torch._export import utils

    # It asks for all operators of C++, once for each namespace: in these tests none is added.
    known: Any = utils._materialize_cpp_cia_ops
    if not hasattr(known, "cache_info"):
        utils._materialize_cpp_cia_ops = functools.cache(known)
    # 11,000 annotations of functions that it defines are made anew; those of typing are kept.
    torch._ops.Callable = typing.Callable  # type: ignore[assignment,attr-defined]
