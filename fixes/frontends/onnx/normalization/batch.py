"""ONNX's BatchNormalization.

TVM takes ONNX's momentum, the share of the old statistics, for that of the new ones, and their
variance with Bessel's correction.
"""

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.normalization import statistics
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/onnx/batch_normalization.py")

_INPUTS = ("X", "scale", "B", "input_mean", "input_var")
_TRAINS_BY_ATTRIBUTE = 14
_SPATIAL = 9
"""The opset from which each channel has its statistics; before it, each element may."""


def convert(node: Node) -> Expr:
    """The normalized data, and with training the running mean and variance.

    Raises:
        ValueError: an attribute or a shape is invalid.
        OpNotImplemented: the data are no floats; or a version before 14 trains, which its text does
            not define.
    """
    values = [operands.required(node, index, name) for index, name in enumerate(_INPUTS)]
    data, scale, bias, mean, variance = values
    dtypes = [statistics.floats(node, *each) for each in zip(_INPUTS, values, strict=True)]
    rank = operands.rank_of(data)
    if rank < 1:
        raise invalid(node.operator, "it must have 1 dimension or more", **{"rank of X": rank})
    trains = node.opset >= _TRAINS_BY_ATTRIBUTE and operands.flag(node, "training_mode")
    if not trains and node.outputs > 1:
        if node.opset < _TRAINS_BY_ATTRIBUTE:
            raise refuse(node.operator, opset=node.opset, outputs=node.outputs)
        raise invalid(node.operator, "there are more with training", outputs=node.outputs)
    by_element = node.opset < _SPATIAL and not operands.flag(node, "spatial", 1)
    if not trains and not by_element and rank > 1 and set(dtypes) == {"float32"}:
        return relax.TupleGetItem(node.emit(_plain(node, values)), 0)
    inner = max(map(operands.inner_dtype, dtypes))
    data, scale, bias, mean, variance = (operands.widened(node, each, inner) for each in values)

    def placed(value: Expr) -> Expr:
        return value if by_element or rank < 2 else statistics.of_channels(node, value, rank)

    epsilon, further = operands.decimal(node, "epsilon", 1e-5), []
    if trains:
        axes = [axis for axis in range(rank) if axis != 1]
        now, spread, difference = statistics.centered(node, data, axes)
        for before, current, dtype in ((mean, now, dtypes[3]), (variance, spread, dtypes[4])):
            flat = operands.reshaped(node, current, tvm_api.shape_of(before))
            further.append(operands.widened(node, _running(node, before, flat), dtype))
    else:
        spread = placed(variance)
        difference = node.emit(relax.op.subtract(data, placed(mean)))
    inverse = statistics.inverse_deviation(node, spread, epsilon)
    result = node.emit(relax.op.multiply(difference, inverse))
    result = statistics.scaled(node, result, placed(scale), placed(bias))
    result = operands.widened(node, result, dtypes[0])
    return relax.Tuple([result, *further]) if trains else result


def _plain(node: Node, values: list[Expr]) -> Expr:
    return relax.op.nn.batch_norm(
        *values, axis=1, epsilon=operands.decimal(node, "epsilon", 1e-5), training=False
    )


def _running(node: Node, before: Expr, current: Expr) -> Expr:
    """The average of ``before``, by the share of the momentum, and ``current``."""
    dtype, share = tvm_api.dtype_of(before), operands.decimal(node, "momentum", 0.9)
    old = relax.op.multiply(before, tvm_api.const(np.array(share, dtype)))
    new = relax.op.multiply(current, tvm_api.const(np.array(1 - share, dtype)))
    return node.emit(relax.op.add(old, new))


CONVERSIONS: dict[str, Convert] = {"BatchNormalization": convert}


def _mistakes_momentum() -> bool:
    """True if the running statistics of training are wrong."""
    names = ("scale", "B", "input_mean", "input_var")
    numbers = dict(zip(names, ([1], [0], [10], [20]), strict=True))
    inputs = {"X": np.array([[1], [3]], np.float32)}
    inputs.update((name, np.array(each, np.float32)) for name, each in numbers.items())
    model = node_model(
        "BatchNormalization", inputs, 15, outputs=3, training_mode=1, momentum=0.75, epsilon=0.0
    )
    expected = ([[-1], [1]], [8], [15.25])
    return fails(model, list(inputs.values()), [np.array(each, np.float32) for each in expected])


FIX = Fix(
    name="onnx_batch_normalization",
    operators=tuple(CONVERSIONS),
    fault=(
        "ONNX's BatchNormalization in training swaps the shares of old and new statistics, and"
        " corrects the variance; mixed dtypes are not imported"
    ),
    issue=None,
    parts=(FaultPart("running statistics", _mistakes_momentum),),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_layer_normalization",
    patch=patch(CONVERSIONS),
)
