"""Outputs of a node that a function of TIR computes, from a description in TE.

A reduction over an axis that may be empty has its identity as the result: a separate loop writes
it, since TVM would write it in the first iteration of the reduction.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tvm import relax, te, tirx
from tvm.relax.utils import gen_call_tir_inputs

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.lowerings.reductions import lowered
from relaxcheck.fixes.tvm_api import BlockBuilder, Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/computing.py")

Indices = Sequence[PrimExpr]
Compute = Callable[..., Any]


class Node(Protocol):
    """A node of any importer's graph."""

    @property
    def operator(self) -> str:
        """The name of its operator."""
        ...

    @property
    def builder(self) -> BlockBuilder:
        """The builder of the Relax program."""
        ...

    def emit(self, value: Expr) -> Expr:
        """A variable bound to ``value``."""
        ...


def computed(node: Node, compute: Compute, *arguments: Any) -> Expr:
    """The tensor that ``compute`` makes of ``arguments``: tensors, sizes, and lists of these.

    A list of several tensors makes a tuple.
    """
    function, inputs, result, *dimensions = gen_call_tir_inputs(compute, *arguments)
    empty = lowered.empty_extents(function)
    if empty:
        function = lowered.initialized(function, empty)
    variable = node.builder.add_func(function, node.operator.lower().replace(".", "_"))
    return node.emit(relax.call_tir(variable, inputs, result, *dimensions))


def computed_all(node: Node, count: int, compute: Compute, *arguments: Any) -> list[Expr]:
    """The ``count`` tensors that ``compute`` makes."""
    result = computed(node, compute, *arguments)
    return [node.emit(relax.TupleGetItem(result, number)) for number in range(count)]


def filled(shape: Sequence[Any], element: Callable[[Indices], PrimExpr], name: str) -> Tensor:
    """The tensor of ``shape`` with ``element(indices)`` at each place."""
    return te.compute(tuple(shape), lambda *indices: element(indices), name=name)


def looped(
    name: str,
    shapes: Sequence[Sequence[Any]],
    dtypes: Sequence[str],
    inputs: Sequence[Tensor],
    body: Callable[[Sequence[Any], Sequence[Any]], Any],
) -> list[Tensor]:
    """The tensors of ``shapes`` and ``dtypes`` that ``body`` of inputs and outputs writes."""
    tensors = te.extern(
        [list(shape) for shape in shapes], list(inputs), body, name=name, dtype=list(dtypes)
    )
    # A single tensor has elements without end.
    return [tensors] if isinstance(tensors, te.Tensor) else list(tensors)


def lowest(dtype: str) -> PrimExpr:
    """The identity of a maximum of elements of ``dtype``."""
    return tirx.const(float("-inf"), dtype) if "float" in dtype else tirx.min_value(dtype)


def highest(dtype: str) -> PrimExpr:
    """The identity of a minimum of elements of ``dtype``."""
    return tirx.const(float("inf"), dtype) if "float" in dtype else tirx.max_value(dtype)


def _prior(first: PrimExpr, comes_first: PrimExpr, second: PrimExpr) -> PrimExpr:
    """``first`` if it is NaN or ``comes_first``, else ``second``."""
    dtype = tvm_api.dtype_of(first)
    if "float" in dtype:
        # TVM has no isnan of bfloat16.
        wide = first.astype("float32") if dtype == "bfloat16" else first
        comes_first = tirx.any(comes_first, tirx.isnan(wide))
    return tirx.Select(comes_first, first, second)


total = te.sum
product = te.comm_reducer(lambda x, y: x * y, lambda dtype: tirx.const(1, dtype), name="product")
largest = te.comm_reducer(lambda x, y: _prior(x, x >= y, y), lowest, name="largest")
"""The largest element, NaN if there is one."""
smallest = te.comm_reducer(lambda x, y: _prior(x, x <= y, y), highest, name="smallest")
"""The smallest element, NaN if there is one."""


def broadcast(tensor: Tensor, at: Indices) -> PrimExpr:
    """The element of ``tensor``, which broadcasts to a result, at the place ``at`` of it.

    Of dimensions that are symbols, those that are 1 at run time broadcast as well.
    """
    rank = len(tensor.shape)
    pairs = zip(tensor.shape, at[len(at) - rank :], strict=True)
    return tensor[tuple(_along(size, index) for size, index in pairs)]


def _along(size: PrimExpr, index: PrimExpr) -> PrimExpr:
    known = tvm_api.as_int(size)
    if known == 1:
        return tvm_api.integer(0)
    return index if known is not None else bounded(index, size)


def within(index: PrimExpr, size: PrimExpr) -> PrimExpr:
    """True where ``index`` is from 0 up to, but not, ``size``."""
    return tirx.all(index >= tvm_api.integer(0), index < size)


def bounded(index: PrimExpr, size: PrimExpr) -> PrimExpr:
    """``index``, or the nearest that is from 0 up to, but not, ``size``."""
    zero = tvm_api.integer(0)
    return tirx.max(tirx.min(index, size - tvm_api.integer(1)), zero)
