"""NaN and infinities in comparisons and differences, and the extremes of a dtype in argmax.

LLVM's float comparisons are ordered: NaN is not unequal to anything. TVM simplifies x - x to 0 if
it sees that both are the same tensor, as after FuseOps merged two parameters; for infinities and
NaN the result is NaN. TOPI's argmax starts with the lowest finite number at index -1, which remains
if no element is greater: if all are -infinity, or the lowest integer.
"""

from typing import Any

import numpy as np
from tvm import relax, te, tirx, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/special_values.py")

_NOWHERE = 2**63 - 1

_WITH_ISNAN = ("float16", "float32", "float64")
"""TVM has no isnan for other floats, such as bfloat16."""


def _with_nan(original: Legalization) -> Legalization:
    """``original``, except that NaN is unequal to everything, itself included."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        if not all(tvm_api.is_tensor(arg) and tvm_api.has_shape(arg) for arg in call.args):
            return original(builder, call)
        if tvm_api.dtype_of(call.args[0]) not in _WITH_ISNAN:
            return original(builder, call)
        name = str(call.op.name).rpartition(".")[2]

        def compute(left: Tensor, right: Tensor) -> Tensor:
            if name == "equal":
                # After fusion both may be one tensor, and their equality counts as proved.
                return topi.logical_and(topi.equal(left, right), topi.logical_not(topi.isnan(left)))
            undefined = topi.logical_or(topi.isnan(left), topi.isnan(right))
            return topi.logical_or(topi.not_equal(left, right), undefined)

        return builder.call_te(compute, *call.args, primfunc_name_hint=name)

    return lower


def _from_itself(original: Legalization) -> Legalization:
    """``original``, except that a value that is not finite, minus itself, is NaN."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data, other = call.args
        dtype = tvm_api.dtype_of(data) if tvm_api.is_tensor(data) else ""
        if not data.same_as(other) or dtype not in _WITH_ISNAN or not tvm_api.has_shape(data):
            return original(builder, call)

        def compute(tensor: Tensor) -> Tensor:
            zero, undefined = tirx.const(0.0, dtype), tirx.const(float("nan"), dtype)
            return te.compute(
                tensor.shape,
                lambda *at: tirx.Select(tirx.isfinite(tensor(*at)), zero, undefined),
                name="difference",
            )

        return builder.call_te(compute, data, primfunc_name_hint="subtract")

    return lower


def _finding_first_extreme(original: Legalization) -> Legalization:
    """``original``, except that the first extreme element is found whatever the elements are."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data = call.args[0]
        dtype = tvm_api.dtype_of(data)
        signed = dtype in ("float16", "float32", "float64", "int8", "int16", "int32", "int64")
        if not signed or not tvm_api.has_shape(data) or tvm_api.dtype_of(call) != "int64":
            return original(builder, call)
        name = str(call.op.name).rpartition(".")[2]
        rank = len(tvm_api.shape_of(data))
        axis = call.attrs.axis
        axes = list(range(rank)) if axis is None else [int(axis) % rank]
        keep = bool(call.attrs.keepdims)

        def compute(tensor: Tensor) -> Tensor:
            return _place(tensor, axes, keep=keep, largest=name == "argmax")

        return builder.call_te(compute, data, primfunc_name_hint=name)

    return lower


def _place(data: Tensor, axes: list[int], *, keep: bool, largest: bool) -> Tensor:
    """The flat int64 index over ``axes`` of the first extreme element."""
    dims = list(data.shape)
    choose = te.comm_reducer(
        lambda left, right: _better(left, right, largest),
        lambda index, value: (tvm_api.integer(_NOWHERE), _least(str(value), largest)),
        name="place",
    )
    ranges = {axis: te.reduce_axis((0, dims[axis]), name=f"k{axis}") for axis in axes}
    shape = [
        tvm_api.integer(1) if axis in ranges else dim
        for axis, dim in enumerate(dims)
        if keep or axis not in ranges
    ]

    def element(*at: PrimExpr) -> Any:
        others = iter(other for axis, other in enumerate(at) if not (keep and axis in ranges))
        whole = [ranges[axis].var if axis in ranges else next(others) for axis in range(len(dims))]
        index = tvm_api.integer(0)
        for axis in axes:
            index = index * dims[axis] + ranges[axis].var
        return choose((index.astype("int64"), data[tuple(whole)]), axis=list(ranges.values()))

    places = te.compute(shape, element, name="places")
    return te.compute(shape, lambda *at: places[0][at], name="place")


def _better(left: Any, right: Any, largest: bool) -> tuple[PrimExpr, PrimExpr]:
    above = left[1] > right[1] if largest else left[1] < right[1]
    first = tirx.all(tvm_api.equal(left[1], right[1]), left[0] < right[0])
    chosen = tirx.any(above, first)
    return tirx.Select(chosen, left[0], right[0]), tirx.Select(chosen, left[1], right[1])


def _least(dtype: str, largest: bool) -> PrimExpr:
    """The worst value of ``dtype``: no element is worse."""
    if dtype.startswith("float"):
        return tirx.const(float("-inf" if largest else "inf"), dtype)
    return tirx.min_value(dtype) if largest else tirx.max_value(dtype)


def is_unequal_to_nan() -> bool:
    """True if NaN is unequal to itself."""
    call = probes.one_call(relax.op.not_equal, (2,), (2,))
    array = np.array([np.nan, 1], "float32")
    return probes.computes(call, [array, array], np.array([1, 0]))


def is_unequal_to_nan_when_fused() -> bool:
    """True if NaN is not equal to itself when fused with what follows."""
    fused = _fused_with_itself(relax.op.equal, lambda same: relax.op.astype(same, "float32"))
    return bool((fused == [1, 0, 1]).all())


def leaves_nothing_of_infinity() -> bool:
    """True if infinity minus itself is NaN when fused with what follows."""
    fused = _fused_with_itself(relax.op.subtract, relax.op.abs)
    return bool((np.isnan(fused) == [True, True, False]).all())


def finds_infinities() -> bool:
    """True if argmax and argmin return a valid index when all elements are infinite."""
    array = np.full(3, np.inf, "float32")
    large = probes.one_call(lambda x: relax.op.argmax(x, axis=0, keepdims=True), (3,))
    small = probes.one_call(lambda x: relax.op.argmin(x, axis=0, keepdims=True), (3,))
    zero = np.zeros(1)
    return probes.computes(large, [-array], zero) and probes.computes(small, [array], zero)


def _fused_with_itself(make: Any, follow: Any) -> Any:
    """The result of ``follow(make(x, x))`` for infinity, NaN and 1."""
    builder = relax.BlockBuilder()
    (x,) = probes.inputs([(3,)])
    with builder.function("main", [x]):
        with builder.dataflow():
            both = builder.emit(make(x, x))
            result = builder.emit_output(builder.emit(follow(both)))
        builder.emit_func_output(result)
    return probes.run_fused(builder.get(), np.array([np.inf, np.nan, 1], "float32"))


FIX = Fix(
    name="special_values",
    operators=(
        "relax.equal",
        "relax.not_equal",
        "relax.subtract",
        "relax.argmax",
        "relax.argmin",
    ),
    fault=(
        "NaN is not unequal to anything; when fused, it equals itself, and it and infinity minus"
        " themselves are 0; argmax is -1 if all elements are -infinity, or the lowest integer"
    ),
    issue=None,
    parts=(
        FaultPart("NaN", lambda: not is_unequal_to_nan()),
        FaultPart("fused NaN", lambda: not is_unequal_to_nan_when_fused()),
        FaultPart("fused infinities", lambda: not leaves_nothing_of_infinity()),
        FaultPart("ends of dtypes", lambda: not finds_infinities()),
    ),
    attributes=(
        *(
            OperatorAttribute(f"relax.{name}", LEGALIZE, _with_nan)
            for name in ("equal", "not_equal")
        ),
        OperatorAttribute("relax.subtract", LEGALIZE, _from_itself),
        *(
            OperatorAttribute(f"relax.{name}", LEGALIZE, _finding_first_extreme)
            for name in ("argmax", "argmin")
        ),
    ),
    after="kept_dimensions",
    patch=(
        *(Wrapping(f"relax.{name}", _with_nan) for name in ("equal", "not_equal")),
        Wrapping("relax.subtract", _from_itself),
        *(Wrapping(f"relax.{name}", _finding_first_extreme) for name in ("argmax", "argmin")),
    ),
)
