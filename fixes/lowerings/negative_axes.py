"""Axes that count from the end.

Type inference counts a negative axis from the end. TOPI looks for it, as it is written, among those
from 0 on, and fails: in a batch_norm that trains, and in a strided_slice of data with a symbolic
dimension.
"""

from typing import Any

import numpy as np
from tvm import relax
from tvm.relax.utils import convert_to_expr

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization
from relaxcheck.fixes.tvm_api.shapes import fields_values

UPSTREAM = NewFile("relax/transform/legalize_ops/negative_axes.py")

_BATCH_NORM = "relax.nn.batch_norm"
_SLICE = "relax.strided_slice"


def _of_batches(original: Legalization) -> Legalization:
    """``original`` of batch_norm, called with an axis from 0 on."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        attributes: dict[str, Any] = tvm_api.attribute_values(call.attrs)
        if int(attributes["axis"]) >= 0:
            return original(builder, call)
        attributes["axis"] = int(attributes["axis"]) + len(tvm_api.shape_of(call.args[0]))
        counted = relax.op.nn.batch_norm(*call.args, **attributes)
        return original(builder, builder.normalize(counted))

    return lower


def _of_slices(original: Legalization) -> Legalization:
    """``original`` of strided_slice, called with axes from 0 on."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data, axes, *bounds = call.args
        if not hasattr(axes, "fields"):
            return original(builder, call)
        written = [tvm_api.as_int(axis) for axis in fields_values(axes)]
        if all(axis is None or axis >= 0 for axis in written):
            return original(builder, call)
        rank = len(tvm_api.shape_of(data))
        counted = convert_to_expr([axis if axis is None else axis % rank for axis in written])
        sliced = relax.Call(call.op, [data, counted, *bounds], call.attrs)
        return original(builder, builder.normalize(sliced))

    return lower


def normalizes_last_axes() -> bool:
    """True if a batch_norm that trains, over channels at axis -1, is lowered."""
    call = probes.one_call(
        lambda *tensors: relax.op.nn.batch_norm(*tensors, axis=-1, training=True),
        (1, 2),
        *[(2,)] * 4,
    )
    builder = relax.BlockBuilder()
    try:
        with builder.function("main", list(call.args)):
            # Other fixes emit what they lower.
            builder.emit_func_output(builder.normalize(call.op.get_attr(LEGALIZE)(builder, call)))
    except Exception:
        return False
    return True


def slices_last_axes() -> bool:
    """True if a slice of a symbolic number of rows along axis -1 is computed."""
    n = tvm_api.shape_var("n")
    call = probes.one_call(lambda x: relax.op.strided_slice(x, [-1], [1], [3]), (n, 3))
    array = np.arange(6, dtype="float32").reshape(2, 3)
    return probes.computes(call, [array], array[:, 1:])


FIX = Fix(
    name="negative_axes",
    operators=(_BATCH_NORM, _SLICE),
    fault=(
        "batch_norm that trains, and strided_slice of data with a symbolic dimension, fail along an"
        " axis that is counted from the end"
    ),
    issue=None,
    parts=(
        FaultPart("batch_norm", lambda: not normalizes_last_axes()),
        FaultPart("strided_slice", lambda: not slices_last_axes()),
    ),
    attributes=(
        OperatorAttribute(_BATCH_NORM, LEGALIZE, _of_batches),
        OperatorAttribute(_SLICE, LEGALIZE, _of_slices),
    ),
    after="symbolic_slices",
    patch=(Wrapping(_BATCH_NORM, _of_batches), Wrapping(_SLICE, _of_slices)),
)
