"""Elements at indices, which count from the end where they are negative.

Relax reads out of bounds there: its ``take`` has no index -1, and trusts the indices.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import broadcast, computed, filled
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.elements import broadcast_shape
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions

UPSTREAM = NewFile("relax/frontend/torch/choosing.py")

_MASKS = ("bool", "uint8")
"""The dtypes of indices that say of each element whether to take it."""


def select_one(node: Node) -> Expr:
    """The slice at one index of an axis, without that axis.

    Raises:
        ValueError: there is no such axis, or it surely has no such index.
    """
    data, index = node.argument("self"), node.argument("index")
    dims = tvm_api.shape_of(data)
    dim = operands.axis(node, node.argument("dim"), len(dims))
    size = tvm_api.as_int(dims[dim])
    if isinstance(index, int) and size is not None:
        if not -size <= index < size:
            raise invalid(node.operator, f"the axis has {size} of them", index=index)
        index %= size
    if isinstance(index, int) and index < 0:
        index = dims[dim] + index
    elif not isinstance(index, int):
        index = tirx.Select(index < 0, index + dims[dim], index)
    return node.emit(relax.op.take(data, operands.tensor(node, index, "int64"), dim))


def take_flat(node: Node) -> Expr:
    """The elements at indices of the data as a vector."""
    data = operands.reshaped(node, node.argument("self"), [count_of(node.argument("self"))])
    index = node.argument("index")
    flat = operands.reshaped(node, index, [count_of(index)])
    taken = node.emit(relax.op.take(data, counted(node, flat, data, 0), 0))
    return operands.reshaped(node, taken, tvm_api.shape_of(index))


def select_several(node: Node) -> Expr:
    """The slices at the indices of a vector, or the only element of data without dimensions."""
    data, index = node.argument("self"), node.argument("index")
    if not operands.rank_of(data):
        return data
    dim = operands.axis(node, node.argument("dim"), operands.rank_of(data))
    return node.emit(relax.op.take(data, operands.lifted(node, index), dim))


def gather_elements(node: Node) -> Expr:
    """The elements at indices along an axis, one for each index."""
    data, index = node.argument("self"), node.argument("index")
    dim = operands.axis(node, node.argument("dim"), operands.rank_of(data))
    shape = tvm_api.shape_of(index)
    if any(tvm_api.as_int(size) == 0 for size in shape):
        return node.emit(relax.op.zeros(relax.ShapeExpr(shape), tvm_api.dtype_of(data)))
    lifted = [operands.lifted(node, each) for each in (data, index)]
    taken = node.emit(relax.op.gather_elements(*lifted, axis=dim))
    return taken if shape else operands.reshaped(node, taken, [])


def index_broadcast(node: Node) -> Expr:
    """The elements at indices of some axes, which are broadcast, as in ``x[a, :, b]``.

    Their place is that of the axes if these follow each other, else the front.
    """
    data = node.argument("self")
    places = places_of(node, data, node.argument("indices"))
    if len(places) == 1:
        ((dim, only),) = places.items()
        return node.emit(relax.op.take(data, counted(node, only, data, dim), dim))
    dims = list(places)
    first = dims[0] if dims == list(range(dims[0], dims[-1] + 1)) else 0

    def compute(source: Tensor, indices: Sequence[Tensor]) -> Tensor:
        shape = broadcast_shape([tensor.shape for tensor in indices])
        kept = [size for dim, size in enumerate(source.shape) if dim not in places]

        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            chosen = at[first : first + len(shape)]
            others = iter([*at[:first], *at[first + len(shape) :]])
            own = dict(zip(dims, indices, strict=True))
            where = [
                from_front(broadcast(own[dim], chosen), size) if dim in own else next(others)
                for dim, size in enumerate(source.shape)
            ]
            return source[tuple(where)]

        return filled([*kept[:first], *shape, *kept[first:]], element, "chosen")

    return computed(node, compute, data, list(places.values()))


def places_of(node: Node, data: Expr, indices: Sequence[Any]) -> dict[int, Expr]:
    """The indices of each axis of ``data`` that has some, in int64.

    A mask stands for the axes that it covers, and becomes the places where it holds.

    Raises:
        ValueError: there are more indices than axes.
    """
    places: dict[int, Expr] = {}
    dim = 0
    for each in indices:
        if each is None:
            dim += 1
            continue
        if tvm_api.dtype_of(each) not in _MASKS:
            places[dim] = operands.cast(node, each, "int64")
            dim += 1
            continue
        for row in places_where(node, operands.cast(node, each, "bool")):
            places[dim] = row
            dim += 1
    if dim > operands.rank_of(data):
        raise invalid(node.operator, "there are fewer axes", indices=dim)
    return places


def places_where(node: Node, mask: Expr) -> list[Expr]:
    """The places where ``mask`` holds: a vector of indices for each of its axes."""
    rank = operands.rank_of(mask)
    found = node.emit(relax.op.nonzero(mask))
    length = tvm_api.shape_var(f"{node.call.name}_length")
    found = node.builder.match_cast(found, tvm_api.tensor_type([rank, length], "int64"))
    rows = [node.emit(relax.op.strided_slice(found, [0], [row], [row + 1])) for row in range(rank)]
    return [node.emit(relax.op.reshape(row, relax.ShapeExpr([length]))) for row in rows]


def counted(node: Node, indices: Expr, data: Expr, dim: int) -> Expr:
    """``indices`` of the axis ``dim`` of ``data``, counted from its front."""
    size = tvm_api.shape_of(data)[dim]
    if tvm_api_functions.is_constant(indices):
        values = tvm_api.tensor_of(indices).numpy()
        if (values >= 0).all():
            return indices

    def compute(tensor: Tensor, sizes: Sequence[PrimExpr]) -> Tensor:
        return filled(tensor.shape, lambda at: from_front(tensor[tuple(at)], sizes[0]), "places")

    return computed(node, compute, indices, [size])


def from_front(index: PrimExpr, size: PrimExpr) -> PrimExpr:
    """``index`` from the front of an axis of ``size``."""
    dtype = tvm_api.dtype_of(index)
    return tirx.Select(index < tirx.const(0, dtype), index + size.astype(dtype), index)


def count_of(value: Expr) -> PrimExpr:
    """The number of elements of ``value``."""
    count = tvm_api.integer(1)
    for size in tvm_api.shape_of(value):
        count = count * size
    return tvm_api.integer(known) if (known := tvm_api.as_int(count)) is not None else count


CONVERSIONS: dict[str, Convert] = {
    "select.int": select_one,
    "take.default": take_flat,
    "index_select.default": select_several,
    "gather.default": gather_elements,
    "index.Tensor": index_broadcast,
}

_DATA = np.array([[1, 2], [3, 4]], np.float32)
_ONE = np.array(1, np.float32)
_LAST = np.array([-1])

FIX = Fix(
    name="torch_indices",
    operators=tuple(CONVERSIONS),
    fault="negative indices of PyTorch programs, as in x[:, -1] and x[i], read out of bounds",
    issue=None,
    parts=(
        FaultPart("select", partial(differs, "select.int", _DATA, 1, -1)),
        FaultPart("take", partial(differs, "take.default", _DATA, _LAST)),
        FaultPart("index", partial(differs, "index.Tensor", _DATA, [None, _LAST])),
        FaultPart("no dimensions", partial(differs, "gather.default", _ONE, 0, np.array(0))),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_rnn",
    patch=patch(CONVERSIONS),
)
