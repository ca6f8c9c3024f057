"""Operators that compute with places, at the edges of what they take.

``eye_like`` drops the dtype asked for. ``meshgrid`` of one tensor is no tuple. ``one_hot`` counts
no axis from the end but the last. ``slice_scatter`` takes no symbolic axis, and reads behind what
it scatters: its index runs over all places, and is clipped to the axis of the data. The ``median``
of all elements keeps one dimension for all. ``outer`` is to be narrowed by ToMixedPrecision, but
does not say how.
"""

from math import prod
from typing import Any

import numpy as np
from tvm import relax, te, tirx, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import Lowering, NewFile, Override, Wrapping
from relaxcheck.fixes.passes.mixed_precision import KEY
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes

UPSTREAM = NewFile("relax/transform/legalize_ops/tables.py")

LIKE, GRID, HOT = "relax.eye_like", "relax.meshgrid", "relax.one_hot"
SLICE, MEDIAN, OUTER = "relax.slice_scatter", "relax.median", "relax.outer"


def _in_dtype(original: Legalization) -> Legalization:
    """``original`` of eye_like, in the dtype that it is typed with."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        dtype = tvm_api.dtype_of(call)
        if dtype == tvm_api.dtype_of(call.args[0]):
            return original(builder, call)
        rows, columns = tvm_api.shape_of(call.args[0])
        k = _number(call.args[1])
        return builder.call_te(topi.eye, rows, columns, k, dtype, primfunc_name_hint="eye_like")

    return lower


def _as_tuple(original: Legalization) -> Legalization:
    """``original`` of meshgrid; of one tensor the tuple of it."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        tensors = call.args[0]
        if len(tvm_api.type_of(tensors).fields) != 1:
            return original(builder, call)
        return relax.Tuple([builder.emit(relax.TupleGetItem(tensors, 0))])

    return lower


def _from_front(original: Legalization) -> Legalization:
    """``original`` of one_hot at an axis that counts from the front."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        axis = int(call.attrs.axis)
        if axis >= -1:
            return original(builder, call)
        places, on, off = call.args
        dtype, depth = tvm_api.dtype_of(call), int(call.attrs.depth)
        at = axis + len(tvm_api.shape_of(places)) + 1

        def compute(data: Tensor) -> Tensor:
            return topi.one_hot(data, _number(on), _number(off), depth, at, dtype)

        return builder.call_te(compute, places, primfunc_name_hint="one_hot")

    return lower


def _number(expr: Expr) -> PrimExpr:
    """The number that an argument of a call is."""
    return expr.value if hasattr(relax, "PrimValue") else expr


def _scattered(builder: BlockBuilder, call: Call) -> Expr:
    """The slice_scatter of any axis, which reads a new value for no place outside the slice."""
    data, source, *bounds = call.args
    axis = int(call.attrs.axis) % len(tvm_api.shape_of(data))

    def compute(old: Tensor, new: Tensor, start: PrimExpr, end: PrimExpr, step: PrimExpr) -> Tensor:
        def written(*at: PrimExpr) -> PrimExpr:
            place = at[axis] - start
            inside = tirx.all(at[axis] >= start, at[axis] < end, tirx.floormod(place, step) == 0)
            there = (*at[:axis], tirx.floordiv(place, step), *at[axis + 1 :])
            return tirx.if_then_else(inside, new(*there), old(*at))

        return te.compute(old.shape, written, name="slice_scatter")

    return builder.call_te(
        compute, data, source, *map(_number, bounds), primfunc_name_hint="slice_scatter"
    )


def _in_shape(original: Legalization) -> Legalization:
    """``original`` of median; that of all elements in the shape that it is typed with."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        if call.attrs.axis is not None or not call.attrs.keepdims:
            return original(builder, call)

        def compute(data: Tensor) -> Tensor:
            size = prod(data.shape[1:], start=data.shape[0])
            flat = topi.reshape(data, [size])
            order = topi.argsort(flat, axis=0, is_ascend=True, dtype="int64")
            middle = tirx.floordiv(size - 1, 2)
            return te.compute([1] * len(data.shape), lambda *at: flat[order[middle]], name="median")

        return builder.call_te(compute, call.args[0], primfunc_name_hint="median")

    return lower


def _same(call: Call, out_dtype: Any) -> Call:
    """An outer product has no output dtype to set: it is computed in that of its operands."""
    return call


def makes_dtypes() -> bool:
    """True if eye_like makes another dtype."""
    call = probes.one_call(lambda x: relax.op.eye_like(x, dtype="int8"), (2, 2))
    # The lowered function takes no tensor.
    return probes.computes(call, [], np.eye(2))


def grids_one() -> bool:
    """True if the meshgrid of one tensor is compiled."""
    module = probes.program(lambda x: relax.TupleGetItem(relax.op.meshgrid([x]), 0), (3,))
    return probes.goes_through(relax.transform.LegalizeOps(), module)


def heats_from_the_end() -> bool:
    """True if one_hot takes axis -2."""
    numbers = tvm_api_shapes.number(1), tvm_api_shapes.number(0)
    call = probes.one_call(lambda x: relax.op.one_hot(x, *numbers, 3, -2), (2,), dtypes=("int64",))
    expected = np.array([[0, 1], [0, 0], [1, 0]])
    return probes.computes(call, [np.array([2, 0])], expected)


def writes_symbolic_slices() -> bool:
    """True if slice_scatter takes a symbolic axis."""
    n = tvm_api.shape_var("n")
    call = probes.one_call(
        lambda x, new: relax.op.slice_scatter(x, new, 1, n, 1, axis=0), *((n,), (n - 1,))
    )
    return probes.is_lowered(call)


def keeps_all() -> bool:
    """True if the median of a matrix keeps two dimensions."""
    call = probes.one_call(lambda x: relax.op.median(x, keepdims=True), (2, 2))
    builder = relax.BlockBuilder()
    try:
        lowered = call.op.get_attr(LEGALIZE)(builder, call)
    except Exception:
        return False
    return len(tvm_api.shape_of(builder.normalize(lowered))) == 2


def narrows_outer() -> bool:
    """True if ToMixedPrecision takes an outer product."""
    module = probes.program(relax.op.outer, (2,), (3,))
    return probes.goes_through(relax.transform.ToMixedPrecision(), module)


FIX = Fix(
    name="tables",
    operators=(LIKE, GRID, HOT, SLICE, MEDIAN, OUTER),
    fault=(
        "eye_like ignores its dtype; a meshgrid of one tensor, a one_hot at axis -2, a"
        " slice_scatter over a symbolic axis and the ToMixedPrecision of an outer product fail;"
        " the median of all elements keeps one dimension"
    ),
    issue=None,
    parts=(
        FaultPart("dtypes of identities", lambda: not makes_dtypes()),
        FaultPart("grids of one tensor", lambda: not grids_one()),
        FaultPart("axes from the end", lambda: not heats_from_the_end()),
        FaultPart("symbolic slices", lambda: not writes_symbolic_slices()),
        FaultPart("kept dimensions", lambda: not keeps_all()),
        FaultPart("outer products", lambda: not narrows_outer()),
    ),
    attributes=(
        OperatorAttribute(LIKE, LEGALIZE, _in_dtype),
        OperatorAttribute(GRID, LEGALIZE, _as_tuple),
        OperatorAttribute(HOT, LEGALIZE, _from_front),
        OperatorAttribute(SLICE, LEGALIZE, lambda original: _scattered),
        OperatorAttribute(MEDIAN, LEGALIZE, _in_shape),
        OperatorAttribute(OUTER, KEY, lambda original: _same),
    ),
    after="scatters",
    patch=(
        Wrapping(LIKE, _in_dtype),
        Wrapping(GRID, _as_tuple),
        Wrapping(HOT, _from_front),
        Lowering(SLICE, _scattered),
        Wrapping(MEDIAN, _in_shape),
        Override((OUTER,), KEY, _same, wraps=False, registered=False),
    ),
)
