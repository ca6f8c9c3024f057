"""Makes ``torch.export`` cheaper: most of the time of what it decomposes is spent on bookkeeping.

All changes are to private parts of PyTorch, and leave what it computes as it is.
"""

import contextlib
import functools
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any


def hasten() -> None:
    """Have PyTorch do once in this process what it does for each program; again does nothing."""
    import torch._ops
    import torch.export._trace  # The first export needs it: not in each process that is forked.
    from torch._export import utils
    from torch.export import exported_program

    # It asks for all operators of C++, once for each namespace: in these tests none is added.
    known: Any = utils._materialize_cpp_cia_ops
    if not hasattr(known, "cache_info"):
        utils._materialize_cpp_cia_ops = functools.cache(known)
        utils._check_valid_to_preserve = functools.cache(utils._check_valid_to_preserve)
    # 11,000 annotations of functions that it defines are made anew; those of typing are kept.
    torch._ops.Callable = typing.Callable  # type: ignore[assignment,attr-defined]
    exported_program._override_composite_implicit_decomp = _overriding


@contextlib.contextmanager
def _overriding(decompositions: Mapping[Any, Callable[..., Any]]) -> Iterator[None]:
    """Have operators decompose as in ``decompositions``, in place of the context of PyTorch.

    That makes the same dozen of functions for each of a thousand operators, for each program.
    """
    import torch
    from torch._subclasses import fake_impls

    implicit = torch._C.DispatchKey.CompositeImplicitAutograd
    before = {}
    for operator, decomposition in decompositions.items():
        kernels = operator.py_kernels
        before[operator] = own = kernels.copy()
        added, fake = _kernels(operator, own.get(implicit))
        for key, kernel in added.items():
            kernels.setdefault(key, kernel)
        kernels[implicit] = decomposition
        operator._dispatch_cache.clear()
        fake_impls.op_implementations_dict.setdefault(operator, fake)
    try:
        yield
    finally:
        for operator, own in before.items():
            operator.py_kernels.clear()
            operator.py_kernels.update(own)
            operator._dispatch_cache.clear()
            fake_impls._deregister_op_impl(operator)


@functools.cache
def _kernels(operator: Any, implicit: Any) -> tuple[Mapping[Any, Any], Callable[..., Any]]:
    """The kernels that ``operator`` gets where it has none, and its function on fake tensors.

    ``implicit`` is the present kernel of its own decomposition, if Python has one.
    """
    from torch._export.utils import _get_decomp_for_cia
    from torch._higher_order_ops.utils import autograd_not_implemented
    from torch.export import exported_program

    refused = autograd_not_implemented(operator, deferred_error=True)
    own = _get_decomp_for_cia(operator)

    def on_fake_tensors(mode: Any, function: Any, *arguments: Any, **named: Any) -> Any:
        with mode:
            return own(*arguments, **named)

    return {
        **dict.fromkeys(exported_program._AUTOGRAD_ALIAS_BACKEND_KEYS_TO_OVERRIDE, refused),
        **dict.fromkeys(exported_program._BACKEND_KEYS_TO_OVERRIDE, own),
    }, on_fake_tensors
