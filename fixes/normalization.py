"""Normalizations in dtypes, and over axes, that TOPI's do not have.

Those of layers, groups and instances refuse float64, that by the root mean square computes it in
float32, and cannot be over all axes. That of groups does not compile where several dimensions are
expressions of one symbol. That of batches gives float32 where its arguments are float16:
the results are not of the type that the calls have, and calls on them are refused.
"""

from collections.abc import Sequence
from typing import Any

from tvm import relax, te, tirx, topi

from fixes import probes_of_lowerings as probes
from fixes import tvm_api
from fixes.fix import LEGALIZE, Fix, OperatorAttribute, Part
from fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

OPERATORS = tuple(
    f"relax.nn.{name}" for name in ("layer_norm", "group_norm", "instance_norm", "rms_norm")
)


def _in_own_dtype(original: Legalization) -> Legalization:
    """``original``, but for what it cannot do, or not as precisely as the tensor's dtype is."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data = call.args[0]
        name = str(call.op.name).rpartition(".")[2]
        rank = int(tvm_api.type_of(data).ndim)
        axes = [int(axis) % rank for axis in call.attrs.axes]
        attrs = call.attrs
        whole = name == "rms_norm" and len(axes) == rank
        grouped = hasattr(attrs, "num_groups") and any(
            tvm_api.as_int(dim) is None and not tvm_api.is_variable(dim)
            for dim in tvm_api.shape_of(data)
        )
        if tvm_api.dtype_of(data) != "float64" and not whole and not grouped:
            return original(builder, call)
        channel = int(attrs.channel_axis) % rank if hasattr(attrs, "channel_axis") else None
        groups = int(attrs.num_groups) if hasattr(attrs, "num_groups") else None

        def compute(tensor: Tensor, *weights: Tensor) -> Tensor:
            along = axes if channel is None else [channel]
            scales = [_along(one, along, rank) for one in weights]
            if groups is None:
                return _normalized(tensor, axes, scales, float(attrs.epsilon))
            assert channel is not None
            apart = [_grouped(one, channel, groups) for one in (tensor, *scales)]
            # The channels of a group stand after its number.
            within = [channel + 1, *(axis + (axis > channel) for axis in axes)]
            found = _normalized(apart[0], within, apart[1:], float(attrs.epsilon))
            return _ungrouped(found, channel, tensor.shape)

        return builder.call_te(compute, *call.args, primfunc_name_hint=name)

    return lower


def _along(weight: Tensor, axes: Sequence[int], rank: int) -> Tensor:
    """``weight`` over ``axes`` as a tensor of ``rank`` dimensions, the others 1."""
    sizes = dict(zip(axes, weight.shape, strict=True))
    shape = [sizes.get(axis, tvm_api.integer(1)) for axis in range(rank)]
    return te.compute(shape, lambda *at: weight[tuple(at[axis] for axis in axes)], name="weight")


def _grouped(data: Tensor, channel: int, groups: int) -> Tensor:
    """``data`` with an axis for the groups and one for the channels of each."""
    dims = list(data.shape)
    inner = tvm_api.floordiv(dims[channel], groups)
    shape = [*dims[:channel], tvm_api.integer(groups), inner, *dims[channel + 1 :]]

    def element(*at: PrimExpr) -> PrimExpr:
        number, within = at[channel : channel + 2]
        return data[(*at[:channel], number * inner + within, *at[channel + 2 :])]

    return te.compute(shape, element, name="groups")


def _ungrouped(data: Tensor, channel: int, shape: Any) -> Tensor:
    """``data``, as ``_grouped`` makes it, in ``shape`` again."""
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
    """``data`` by its root mean square over ``axes``, times the weight.

    Where there is also a bias, by its standard deviation, about its mean.
    """
    own = tvm_api.dtype_of(data)
    dtype = "float64" if own == "float64" else "float32"
    count = tirx.const(1, dtype)
    for axis in axes:
        count = count * data.shape[axis].astype(dtype)

    def mean(one: Tensor) -> Tensor:
        total = topi.sum(one, axis=list(axes), keepdims=True)
        return te.compute(total.shape, lambda *at: total[at] / count, name="mean")

    wide, scale, *bias = (topi.cast(one, dtype) for one in (data, *weights))
    apart = topi.subtract(wide, mean(wide)) if bias else wide
    power = mean(topi.multiply(apart, apart))
    size = te.compute(
        power.shape, lambda *at: tirx.sqrt(power[at] + tirx.const(epsilon, dtype)), name="size"
    )
    found = topi.multiply(topi.divide(apart, size), scale)
    return topi.cast(topi.add(found, bias[0]) if bias else found, own)


def _of_type_of_call(original: Legalization) -> Legalization:
    """``original`` followed by casts to the dtypes that the call's results have by its type."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        found = builder.emit(original(builder, call))
        pairs = zip(tvm_api.type_of(found).fields, tvm_api.type_of(call).fields, strict=True)
        dtypes = [tuple(map(tvm_api.dtype_of, pair)) for pair in pairs]
        if all(given == wanted for given, wanted in dtypes):
            return found
        items = [builder.emit(relax.TupleGetItem(found, at)) for at in range(len(dtypes))]
        return relax.Tuple(
            [
                builder.call_te(topi.cast, item, wanted) if given != wanted else item
                for item, (given, wanted) in zip(items, dtypes, strict=True)
            ]
        )

    return lower


FIX = Fix(
    name="normalization",
    operators=(*OPERATORS, "relax.nn.batch_norm"),
    fault=(
        "normalizations refuse float64, or compute it in float32; that by the root mean square is"
        " not over all axes; that of groups does not compile over expressions of one symbol; that"
        " of batches of float16 gives float32"
    ),
    issue=None,
    parts=(
        Part("float64", lambda: not probes.normalizes_float64()),
        Part("all axes", lambda: not probes.normalizes_all_axes()),
        Part("groups", lambda: not probes.normalizes_groups_of_expressions()),
        Part("batches of float16", lambda: not probes.normalizes_float16_batches()),
    ),
    attributes=(
        *(OperatorAttribute(name, LEGALIZE, _in_own_dtype) for name in OPERATORS),
        OperatorAttribute("relax.nn.batch_norm", LEGALIZE, _of_type_of_call),
    ),
)
