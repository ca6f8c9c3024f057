"""NaN and infinities, and the ends of a dtype where the place of the largest element is asked for.

LLVM compares floats as ordered: what is not a number is not unequal to anything. TVM takes x - x
for 0 where it sees that both are the same tensor, as it does once FuseOps made one parameter of
both: of infinities and NaN it is NaN. And TOPI begins to look for the largest element with the
lowest finite number at place -1, which stays where no element is above it: where all are -infinity,
or the lowest integer.
"""

from typing import Any

from tvm import te, tirx, topi

from fixes import probes_of_special_values as probes
from fixes import tvm_api
from fixes.fix import LEGALIZE, Fix, OperatorAttribute, Part
from fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

_NOWHERE = 2**63 - 1

_WITH_ISNAN = ("float16", "float32", "float64")
"""TVM has no isnan of other floats, such as bfloat16."""


def _with_nan(original: Legalization) -> Legalization:
    """``original``, but floats are unequal where one is NaN, also to themselves."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        if not all(tvm_api.is_tensor(one) and tvm_api.has_shape(one) for one in call.args):
            return original(builder, call)
        if tvm_api.dtype_of(call.args[0]) not in _WITH_ISNAN:
            return original(builder, call)
        name = str(call.op.name).rpartition(".")[2]

        def compute(left: Tensor, right: Tensor) -> Tensor:
            if name == "equal":
                # Where both become one tensor, by fusion, their equality is taken for proved.
                return topi.logical_and(topi.equal(left, right), topi.logical_not(topi.isnan(left)))
            undefined = topi.logical_or(topi.isnan(left), topi.isnan(right))
            return topi.logical_or(topi.not_equal(left, right), undefined)

        return builder.call_te(compute, *call.args, primfunc_name_hint=name)

    return lower


def _from_itself(original: Legalization) -> Legalization:
    """``original``, but what is not finite less itself is NaN."""

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


def _found_at_the_end(original: Legalization) -> Legalization:
    """``original``, but the first of the largest, or smallest, elements whatever they are."""

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
    """Where over ``axes``, counted through in their order, the first chosen element is, int64."""
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
        others = iter(one for axis, one in enumerate(at) if not (keep and axis in ranges))
        whole = [ranges[axis].var if axis in ranges else next(others) for axis in range(len(dims))]
        index = tvm_api.integer(0)
        for axis in axes:
            index = index * dims[axis] + ranges[axis].var
        return choose((index.astype("int64"), data[tuple(whole)]), axis=list(ranges.values()))

    found = te.compute(shape, element, name="places")
    return te.compute(shape, lambda *at: found[0][at], name="place")


def _better(left: Any, right: Any, largest: bool) -> tuple[PrimExpr, PrimExpr]:
    above = left[1] > right[1] if largest else left[1] < right[1]
    first = tirx.all(tvm_api.equal(left[1], right[1]), left[0] < right[0])
    chosen = tirx.any(above, first)
    return tirx.Select(chosen, left[0], right[0]), tirx.Select(chosen, left[1], right[1])


def _least(dtype: str, largest: bool) -> PrimExpr:
    """What no element of ``dtype`` is worse than."""
    if dtype.startswith("float"):
        return tirx.const(float("-inf" if largest else "inf"), dtype)
    return tirx.min_value(dtype) if largest else tirx.max_value(dtype)


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
        "what is not a number is not unequal to anything, and, fused, is equal to itself and leaves"
        " 0 when it is subtracted from itself, as infinity does; the place of the largest element"
        " is -1 where all are -infinity, or the lowest integer"
    ),
    issue=None,
    parts=(
        Part("NaN", lambda: not probes.is_unequal_to_nan()),
        Part("fused NaN", lambda: not probes.is_unequal_to_nan_when_fused()),
        Part("fused infinities", lambda: not probes.leaves_nothing_of_infinity()),
        Part("ends of dtypes", lambda: not probes.finds_infinities()),
    ),
    attributes=(
        *(
            OperatorAttribute(f"relax.{name}", LEGALIZE, _with_nan)
            for name in ("equal", "not_equal")
        ),
        OperatorAttribute("relax.subtract", LEGALIZE, _from_itself),
        *(
            OperatorAttribute(f"relax.{name}", LEGALIZE, _found_at_the_end)
            for name in ("argmax", "argmin")
        ),
    ),
)
