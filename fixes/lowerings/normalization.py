"""Normalizations in dtypes, and over axes, that TOPI does not support.

layer_norm, group_norm and instance_norm refuse float64; rms_norm computes it in float32. rms_norm
normalizes over the last axes alone, and not over all. It and layer_norm read their weights as if
the axes rose, so that axes in another order give wrong results. group_norm does not compile if
several dimensions are expressions of one symbol. It and instance_norm take the mean of squares less
the square of the mean for the variance, which cancel where the mean is far from zero. batch_norm of
float16 returns float32: the results do not have the type of the call, and calls on them are
refused.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from tvm import relax, te, tirx, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/normalization.py")

OPERATORS = tuple(
    f"relax.nn.{name}" for name in ("layer_norm", "group_norm", "instance_norm", "rms_norm")
)


def _in_own_dtype(original: Legalization) -> Legalization:
    """``original``, except where it fails, is wrong, or less precise than the tensor's dtype."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data = call.args[0]
        name = str(call.op.name).rpartition(".")[2]
        rank = int(tvm_api.type_of(data).ndim)
        axes = [int(axis) % rank for axis in call.attrs.axes]
        attrs = call.attrs
        last = list(range(rank - len(axes), rank))
        elsewhere = name == "rms_norm" and (len(axes) == rank or axes != last)
        # The axes of weights are in the order of the call.
        disordered = name == "layer_norm" and axes != sorted(axes)
        cancels = name in ("group_norm", "instance_norm")
        wrong = elsewhere or disordered or cancels
        if tvm_api.dtype_of(data) != "float64" and not wrong:
            return original(builder, call)
        channel = int(attrs.channel_axis) % rank if hasattr(attrs, "channel_axis") else None
        groups = int(attrs.num_groups) if hasattr(attrs, "num_groups") else None

        def compute(tensor: Tensor, *weights: Tensor) -> Tensor:
            along = axes if channel is None else [channel]
            scales = [_along(weight, along, rank) for weight in weights]
            if groups is None:
                return _normalized(tensor, axes, scales, float(attrs.epsilon))
            assert channel is not None
            apart = [_grouped(operand, channel, groups) for operand in (tensor, *scales)]
            # The channels of a group follow its number.
            within = [channel + 1, *(axis + (axis > channel) for axis in axes)]
            normalized = _normalized(apart[0], within, apart[1:], float(attrs.epsilon))
            return _ungrouped(normalized, channel, tensor.shape)

        return builder.call_te(compute, *call.args, primfunc_name_hint=name)

    return lower


def _along(weight: Tensor, axes: Sequence[int], rank: int) -> Tensor:
    """``weight`` over ``axes`` as a tensor of ``rank`` dimensions, the others 1."""
    sizes = dict(zip(axes, weight.shape, strict=True))
    shape = [sizes.get(axis, tvm_api.integer(1)) for axis in range(rank)]
    return te.compute(shape, lambda *at: weight[tuple(at[axis] for axis in axes)], name="weight")


def _grouped(data: Tensor, channel: int, groups: int) -> Tensor:
    """``data`` with its channels split into groups and the channels of each."""
    dims = list(data.shape)
    inner = tvm_api.floordiv(dims[channel], groups)
    shape = [*dims[:channel], tvm_api.integer(groups), inner, *dims[channel + 1 :]]

    def element(*at: PrimExpr) -> PrimExpr:
        number, within = at[channel : channel + 2]
        return data[(*at[:channel], number * inner + within, *at[channel + 2 :])]

    return te.compute(shape, element, name="groups")


def _ungrouped(data: Tensor, channel: int, shape: Any) -> Tensor:
    """The inverse of ``_grouped``, to ``shape``."""
    inner = data.shape[channel + 1]

    def element(*at: PrimExpr) -> PrimExpr:
        number, within = (
            divide(at[channel], inner) for divide in (tvm_api.floordiv, tvm_api.floormod)
        )
        return data[(*at[:channel], number, within, *at[channel + 1 :])]

    return te.compute(shape, element, name="channels")


def _normalized(
    data: Tensor, axes: Sequence[int], weights: Sequence[Tensor], epsilon: float
) -> Tensor:
    """``data`` divided by its root mean square over ``axes``, times the weight.

    With a bias: centred on its mean, divided by its standard deviation.
    """
    own = tvm_api.dtype_of(data)
    dtype = "float64" if own == "float64" else "float32"
    count = tirx.const(1, dtype)
    for axis in axes:
        count = count * data.shape[axis].astype(dtype)

    def mean(values: Tensor) -> Tensor:
        total = topi.sum(values, axis=list(axes), keepdims=True)
        # Over nothing the mean is not read; a quotient by the constant 0 does not compile.
        number = tirx.max(count, tirx.const(1, dtype))
        return te.compute(total.shape, lambda *at: total[at] / number, name="mean")

    wide, scale, *bias = (topi.cast(operand, dtype) for operand in (data, *weights))
    apart = topi.subtract(wide, mean(wide)) if bias else wide
    power = mean(topi.multiply(apart, apart))
    size = te.compute(
        power.shape, lambda *at: tirx.sqrt(power[at] + tirx.const(epsilon, dtype)), name="size"
    )
    normalized = topi.multiply(topi.divide(apart, size), scale)
    return topi.cast(topi.add(normalized, bias[0]) if bias else normalized, own)


def _of_type_of_call(original: Legalization) -> Legalization:
    """``original`` followed by casts to the result dtypes of the call's type."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        result = builder.emit(original(builder, call))
        pairs = zip(tvm_api.type_of(result).fields, tvm_api.type_of(call).fields, strict=True)
        dtypes = [tuple(map(tvm_api.dtype_of, pair)) for pair in pairs]
        if all(actual == wanted for actual, wanted in dtypes):
            return result
        items = [builder.emit(relax.TupleGetItem(result, at)) for at in range(len(dtypes))]
        return relax.Tuple(
            [
                builder.call_te(topi.cast, item, wanted) if actual != wanted else item
                for item, (actual, wanted) in zip(items, dtypes, strict=True)
            ]
        )

    return lower


_LARGE = 1e100
"""Beyond float32; its square is within float64."""


_NORMALIZED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("layer_norm", {"axes": [-1]}),
    ("group_norm", {"num_groups": 1, "channel_axis": 1, "axes": [2]}),
    ("instance_norm", {"channel_axis": 1, "axes": [2]}),
)


def normalizes_float64() -> bool:
    """True if all four normalizations support float64, beyond the range of float32."""
    pair = np.array([[[-_LARGE, _LARGE]]])
    lowered = []
    for name, attributes in _NORMALIZED:
        count = 2 if name == "layer_norm" else 1
        weights = [np.ones(count), np.zeros(count)]
        make = getattr(relax.op.nn, name)
        lowered.append(_computes64(make, attributes, [pair, *weights], np.sign(pair)))
    lowered.append(
        _computes64(relax.op.nn.rms_norm, {"axes": [-1]}, [pair, np.ones(2)], pair / _LARGE)
    )
    return all(lowered)


def normalizes_all_axes() -> bool:
    """True if rms_norm may normalize over every axis."""
    call = probes.one_call(lambda x, w: relax.op.nn.rms_norm(x, w, axes=[0, 1]), (1, 2), (1, 2))
    array = np.array([[3, 4]], "float32")
    return probes.computes(call, [array, np.ones_like(array)], array / 12.5**0.5)


def normalizes_leading_axes() -> bool:
    """True if rms_norm may normalize over axes that another one follows."""
    call = probes.one_call(lambda x, w: relax.op.nn.rms_norm(x, w, axes=[0]), (2, 1), (2,))
    array = np.array([[3], [4]], "float32")
    return probes.computes(call, [array, np.ones(2, "float32")], array / 12.5**0.5)


def normalizes_axes_in_any_order() -> bool:
    """True if layer_norm and rms_norm read the weight of axes that do not rise."""
    data = np.array([[[1, -1], [1, -1]]], "float32")
    weight = np.array([[1, 2], [3, 4]], "float32")
    arrays = [data, weight, np.zeros_like(weight)]
    return all(
        probes.computes(
            probes.one_call(partial(make, axes=[2, 1]), *(array.shape for array in taken)),
            taken,
            data * weight.T,
        )
        for make, taken in ((relax.op.nn.rms_norm, arrays[:2]), (relax.op.nn.layer_norm, arrays))
    )


def normalizes_groups_of_expressions() -> bool:
    """True if group_norm compiles over dimensions such as ``m - 1`` and m."""
    m = tvm_api.shape_var("m")
    shapes = (2, 1, m - 1, m), (1,), (1,)
    call = probes.one_call(
        lambda *arguments: relax.op.nn.group_norm(
            *arguments, num_groups=1, channel_axis=1, axes=[2, 3]
        ),
        *shapes,
    )
    weights = np.ones(1, "float32"), np.zeros(1, "float32")
    pair = np.array([[-1, 1], [2, 4]], "float32").reshape(2, 1, 1, 2)
    return probes.computes(
        call, [pair, *weights], np.sign(pair - np.array([0, 3]).reshape(2, 1, 1, 1))
    )


_OFFSET = 8192.0
"""A mean beside whose square, in float32, nothing is left of that of a deviation of 1."""


def normalizes_small_deviations() -> bool:
    """True if group_norm and instance_norm of float32 are right where the mean is far from zero."""
    data = np.array([[[_OFFSET - 1, _OFFSET + 1]]], "float32")
    arrays = [data, np.ones(1, "float32"), np.zeros(1, "float32")]
    return all(
        probes.computes(
            probes.one_call(
                partial(getattr(relax.op.nn, name), **attributes), *(each.shape for each in arrays)
            ),
            arrays,
            data - _OFFSET,
        )
        for name, attributes in _NORMALIZED[1:]
    )


def normalizes_float16_batches() -> bool:
    """True if batch_norm is lowered to results of the dtype of the call's type."""
    half = ("float16",) * 5
    call = probes.one_call(
        lambda *arguments: relax.op.nn.batch_norm(*arguments, axis=1),
        (1, 2),
        *[(2,)] * 4,
        dtypes=half,
    )
    builder = relax.BlockBuilder()
    with builder.function("main", list(call.args)):
        result = builder.normalize(call.op.get_attr(LEGALIZE)(builder, call))
        dtypes = {tvm_api.dtype_of(field) for field in tvm_api.type_of(result).fields}
        builder.emit_func_output(result)
    return dtypes == {"float16"}


def _computes64(
    make: Callable[..., Expr],
    attributes: dict[str, Any],
    arrays: Sequence[probes.Array],
    want: probes.Array,
) -> bool:
    shapes = [array.shape for array in arrays]
    call = probes.one_call(
        lambda *arguments: make(*arguments, **attributes),
        *shapes,
        dtypes=("float64",) * len(arrays),
    )
    return probes.computes(call, arrays, want)


FIX = Fix(
    name="normalization",
    operators=(*OPERATORS, "relax.nn.batch_norm"),
    fault=(
        "normalizations refuse float64, or compute it in float32; rms_norm fails over all axes, and"
        " over axes that are not the last; layer_norm and rms_norm misread weights of axes that do"
        " not rise; group_norm does not compile over expressions of one symbol, and it and"
        " instance_norm lose the digits of deviations from a mean far from zero; batch_norm of"
        " float16 returns float32"
    ),
    issue=None,
    parts=(
        FaultPart("float64", lambda: not normalizes_float64()),
        FaultPart("all axes", lambda: not normalizes_all_axes()),
        FaultPart("leading axes", lambda: not normalizes_leading_axes()),
        FaultPart("order of axes", lambda: not normalizes_axes_in_any_order()),
        FaultPart("groups", lambda: not normalizes_groups_of_expressions()),
        FaultPart("small deviations", lambda: not normalizes_small_deviations()),
        FaultPart("batches of float16", lambda: not normalizes_float16_batches()),
    ),
    attributes=(
        *(OperatorAttribute(name, LEGALIZE, _in_own_dtype) for name in OPERATORS),
        OperatorAttribute("relax.nn.batch_norm", LEGALIZE, _of_type_of_call),
    ),
    # Axes that do not rise are wrong as well, but no record draws them.
    single=("relax.nn.rms_norm",),
    after="unlowered",
    patch=(
        *(Wrapping(name, _in_own_dtype) for name in OPERATORS),
        Wrapping("relax.nn.batch_norm", _of_type_of_call),
    ),
)
