"""Activations of ONNX in every dtype, of every attribute, and of NaN.

Dtypes of 16 bits are computed in float32. ONNX's attributes, their defaults included, are float32
numbers.
"""

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.elementwise.numbers import (
    HALVES,
    Number,
    attributes,
    cast,
    constant,
    is_float,
    of_floats,
    single,
    tensor,
)
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile(
    "relax/frontend/onnx/elementwise/activations.py",
    "Activations of ONNX in every dtype, of every attribute, and of NaN.",
)

_RELU = "relax.nn.relu"

_PRELU_BROADCASTS = 7
"""The first version of ``PRelu`` whose slopes broadcast as other operands do."""


def _elu(node: Node) -> Expr:
    (alpha,) = attributes(node, alpha=1.0)

    def compute(number: Number, x: Expr) -> Expr:
        below = number(alpha) * (relax.op.exp(x) - number(1))
        return relax.op.where(relax.op.less(x, number(0)), below, x)

    return of_floats(node, compute)


def _celu(node: Node) -> Expr:
    (alpha,) = attributes(node, alpha=1.0)

    def compute(number: Number, x: Expr) -> Expr:
        below = number(alpha) * (relax.op.exp(x / number(alpha)) - number(1))
        return relax.op.where(relax.op.less(x, number(0)), below, x)

    return of_floats(node, compute)


def _selu(node: Node) -> Expr:
    alpha, gamma = attributes(node, alpha=1.6732631921768188, gamma=1.0507010221481323)

    def compute(number: Number, x: Expr) -> Expr:
        below = number(alpha) * relax.op.exp(x) - number(alpha)
        return number(gamma) * relax.op.where(relax.op.less_equal(x, number(0)), below, x)

    return of_floats(node, compute)


def _thresholded_relu(node: Node) -> Expr:
    (alpha,) = attributes(node, alpha=1.0)

    def compute(number: Number, x: Expr) -> Expr:
        return relax.op.where(relax.op.greater(x, number(alpha)), x, number(0))

    return of_floats(node, compute)


def _clipped(number: Number, x: Expr) -> Expr:
    """``x`` between 0 and 1; NaN stays."""
    above = relax.op.where(relax.op.greater(x, number(1)), number(1), x)
    return relax.op.where(relax.op.less(x, number(0)), number(0), above)


def _hard_sigmoid(node: Node) -> Expr:
    alpha, beta = attributes(node, alpha=0.2, beta=0.5)
    return of_floats(node, lambda number, x: _clipped(number, number(alpha) * x + number(beta)))


def _hard_swish(node: Node) -> Expr:
    return of_floats(node, lambda number, x: x * _clipped(number, number(1 / 6) * x + number(0.5)))


def _mish(node: Node) -> Expr:
    return of_floats(node, lambda number, x: x * relax.op.tanh(_softplus_of(number, x)))


def _softplus(node: Node) -> Expr:
    return of_floats(node, _softplus_of)


def _softplus_of(number: Number, x: Expr) -> Expr:
    rest = relax.op.log(number(1) + relax.op.exp(relax.op.negative(relax.op.abs(x))))
    return relax.op.maximum(x, number(0)) + rest


def _softsign(node: Node) -> Expr:
    return of_floats(node, lambda number, x: x / (number(1) + relax.op.abs(x)))


def _swish(node: Node) -> Expr:
    (alpha,) = attributes(node, alpha=1.0)
    return of_floats(node, lambda number, x: x * relax.op.sigmoid(number(alpha) * x))


def _swiglu(node: Node) -> Expr:
    (alpha,) = attributes(node, alpha=1.0)

    def compute(number: Number, gate: Expr, linear: Expr) -> Expr:
        return gate * relax.op.sigmoid(number(alpha) * gate) * linear

    return of_floats(node, compute)


def _leaky_relu(node: Node) -> Expr:
    (alpha,) = attributes(node, alpha=0.01)
    return node.with_attributes(alpha=single(alpha)).converted()


def _prelu(node: Node) -> Expr:
    x, slope = tensor(node, 0), tensor(node, 1)
    if node.opset < _PRELU_BROADCASTS:
        slope = _of_channels(node, x, slope)
    zero = constant(0, tvm_api.dtype_of(x))
    return relax.op.where(relax.op.less(x, zero), relax.op.multiply(x, slope), x)


def _of_channels(node: Node, x: Expr, slope: Expr) -> Expr:
    """``slope``, one for each channel of ``x``, along axis 1; a single one stays."""
    dims = tvm_api.shape_of(slope)
    spatial = len(tvm_api.shape_of(x)) - 2
    if len(dims) != 1 or tvm_api.as_int(dims[0]) == 1 or spatial < 1:
        return slope
    return node.emit(relax.op.reshape(slope, (dims[0], *[1] * spatial)))


def _gelu(node: Node) -> Expr:
    """TVM's own, of 16 bits in float32, where its constants have the digits."""
    x = tensor(node, 0)
    dtype = tvm_api.dtype_of(x)
    if dtype not in HALVES:
        return node.converted()
    widened = node.with_inputs(node.emit(cast(x, dtype, "float32")))
    return cast(widened.converted(), "float32", dtype)


def _shrink(node: Node) -> Expr:
    """Integers are compared with, and moved by, numbers that are not."""
    lambd, bias = attributes(node, lambd=0.5, bias=0.0)
    x = tensor(node, 0)
    dtype = tvm_api.dtype_of(x)
    inner = dtype if dtype == "float64" else "float64" if not is_float(dtype) else "float32"
    value = cast(x, dtype, inner)
    added = value + constant(single(bias), inner)
    moved = value - constant(single(bias), inner)
    above = relax.op.greater(value, constant(single(lambd), inner))
    result = relax.op.where(above, moved, constant(0.0, inner))
    below = relax.op.less(value, constant(-single(lambd), inner))
    return cast(relax.op.where(below, added, result), inner, dtype)


def _erf(node: Node) -> Expr:
    """Integers have a result in float32, which is truncated."""
    x = tensor(node, 0)
    dtype = tvm_api.dtype_of(x)
    if is_float(dtype):
        return node.converted()
    return cast(relax.op.erf(cast(x, dtype, "float32")), "float32", dtype)


CONVERSIONS: dict[str, Convert] = {
    "Elu": _elu,
    "Celu": _celu,
    "Selu": _selu,
    "ThresholdedRelu": _thresholded_relu,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_swish,
    "Mish": _mish,
    "Softplus": _softplus,
    "Softsign": _softsign,
    "Swish": _swish,
    "SwiGLU": _swiglu,
    "LeakyRelu": _leaky_relu,
    "PRelu": _prelu,
    "Gelu": _gelu,
    "Shrink": _shrink,
    "Erf": _erf,
}


def _keeping_nan(original: Legalization) -> Legalization:
    """Lower relu to a selection that keeps NaN, which TVM's maximum makes 0."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        dtype = tvm_api.dtype_of(call.args[0])
        if not is_float(dtype):
            return original(builder, call)

        def compute(data: Tensor) -> Tensor:
            zero = tirx.const(0, dtype)

            def element(*at: PrimExpr) -> PrimExpr:
                return tirx.Select(data(*at) < zero, zero, data(*at))

            return te.compute(data.shape, element, name="relu")

        return builder.call_te(compute, call.args[0], primfunc_name_hint="relu")

    return lower


def _loses_nan(operator: str) -> bool:
    x = np.array([np.nan, 0.5], "float32")
    return fails(node_model(operator, {"x": x}, 16), [x], [x])


def _misses_dtypes() -> bool:
    x = np.array([-1, 2], "float64")
    models = {
        "Elu": [np.expm1(-1.0), 2],
        "ThresholdedRelu": [0.0, 2.0],
    }
    return any(
        fails(node_model(operator, {"x": x}, 16), [x], [np.array(wanted)])
        for operator, wanted in models.items()
    )


def _moves_integers_by_integers() -> bool:
    x = np.array([-3, 3], "int8")
    model = node_model("Shrink", {"x": x}, 9, lambd=0.5, bias=1.5)
    return fails(model, [x], [np.array([-1, 1], "int8")])


FIX = Fix(
    name="onnx_activations",
    operators=(*CONVERSIONS, _RELU),
    fault=(
        "activations of ONNX models compute in float32 alone, make NaN a number, round their"
        " attributes to integers, or are not imported"
    ),
    issue=None,
    parts=(
        FaultPart("NaN", lambda: any(map(_loses_nan, ("Relu", "Elu")))),
        FaultPart("dtypes", _misses_dtypes),
        FaultPart("attributes of integers", _moves_integers_by_integers),
    ),
    attributes=(OperatorAttribute(_RELU, LEGALIZE, _keeping_nan),),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_functions",
    patch=(*patch(CONVERSIONS), Wrapping(_RELU, _keeping_nan)),
)
