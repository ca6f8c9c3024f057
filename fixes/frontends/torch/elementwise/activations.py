"""Activations with all of their attributes, in every dtype of floats."""

from functools import partial

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.elements import widely
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr

UPSTREAM = NewFile("relax/frontend/torch/activations.py")

_SELU = (1.6732632423543772848170429916717, 1.0507009873554804934193349852946)
"""Alpha and scale."""


def _constant(element: PrimExpr, value: float) -> PrimExpr:
    return tirx.const(float(value), tvm_api.dtype_of(element))


def _exponential_less_one(element: PrimExpr) -> PrimExpr:
    """``exp(element) - 1`` without the loss of digits near 0, where it is ``2 e^(x/2) sinh(x/2)``.

    It is for what is not above 0.
    """
    half = element * _constant(element, 0.5)
    near = _constant(element, 2) * tirx.exp(half) * tirx.sinh(half)
    return tirx.Select(
        element < _constant(element, -1), tirx.exp(element) - _constant(element, 1), near
    )


def convert_elu(node: Node) -> Expr:
    """The exponential linear unit; ``selu`` and ``celu`` are of the same form."""
    name = node.operator.partition(".")[0].strip("_")
    alpha, scale, input_scale = _SELU[0], _SELU[1], 1.0
    if name == "elu":
        alpha, scale, input_scale = (
            float(node.argument(each)) for each in ("alpha", "scale", "input_scale")
        )
    elif name == "celu":
        alpha, scale = float(node.argument("alpha")), 1.0
        input_scale = 1 / alpha

    def unit(x: PrimExpr) -> PrimExpr:
        zero = _constant(x, 0)
        negative = tirx.Select(x > zero, zero, x * _constant(x, input_scale))
        below = _exponential_less_one(negative) * _constant(x, alpha * scale)
        return tirx.Select(x > zero, x * _constant(x, scale), below)

    return widely(node, node.dtype, unit, node.argument("self"))


def convert_softplus(node: Node) -> Expr:
    """``log(1 + exp(beta x)) / beta``; ``x`` itself where ``beta x`` is above the threshold."""
    beta, threshold = float(node.argument("beta")), float(node.argument("threshold"))

    def smooth(x: PrimExpr) -> PrimExpr:
        scaled = x * _constant(x, beta)
        above = scaled > _constant(x, threshold)
        finite = tirx.Select(above, _constant(x, 0), scaled)
        soft = tirx.log1p(tirx.exp(finite)) / _constant(x, beta)
        return tirx.Select(above, x, soft)

    return widely(node, node.dtype, smooth, node.argument("self"))


def convert_softsign(node: Node) -> Expr:
    """``x / (1 + |x|)``."""
    return widely(
        node, node.dtype, lambda x: x / (_constant(x, 1) + tirx.abs(x)), node.argument("self")
    )


def convert_shrink(node: Node) -> Expr:
    """0 from ``-lambd`` to ``lambd``; ``softshrink`` moves the rest towards 0 by as much."""
    lambd, soft = float(node.argument("lambd")), node.operator.startswith("soft")

    def shrunk(x: PrimExpr) -> PrimExpr:
        zero, limit = _constant(x, 0), _constant(x, lambd)
        shift = limit if soft else zero
        inner = tirx.Select(x > limit, x - shift, tirx.Select(x < -limit, x + shift, zero))
        return tirx.Select(tirx.isnan(x), x, inner)

    return widely(node, node.dtype, shrunk, node.argument("self"))


def convert_threshold(node: Node) -> Expr:
    """``value`` where an element is not above the threshold."""
    dtype = node.dtype
    data = node.argument("self")
    limit, value = (operands.number(node.argument(name), dtype) for name in ("threshold", "value"))
    return node.emit(relax.op.where(node.emit(relax.op.less_equal(data, limit)), value, data))


def convert_mish(node: Node) -> Expr:
    """``x tanh(log(1 + exp(x)))``."""

    def smooth(x: PrimExpr) -> PrimExpr:
        large = x > _constant(x, 20)
        soft = tirx.log1p(tirx.exp(tirx.Select(large, _constant(x, 0), x)))
        return x * tirx.tanh(tirx.Select(large, x, soft))

    return widely(node, node.dtype, smooth, node.argument("self"))


def convert_log_sigmoid(node: Node) -> Expr:
    """``-log(1 + exp(-x))``, which does not overflow."""

    def smooth(x: PrimExpr) -> PrimExpr:
        return tirx.min(x, _constant(x, 0)) - tirx.log1p(tirx.exp(-tirx.abs(x)))

    return widely(node, node.dtype, smooth, node.argument("self"))


def convert_rrelu(node: Node) -> Expr:
    """The rectifier whose slope is random in training, and the mean of its limits otherwise.

    Raises:
        OpNotImplemented: the program trains.
    """
    if node.argument("training"):
        raise refuse(node.operator, training=True)
    slope = (float(node.argument("lower")) + float(node.argument("upper"))) / 2

    def leaky(x: PrimExpr) -> PrimExpr:
        return tirx.Select(x > _constant(x, 0), x, x * _constant(x, slope))

    result = widely(node, node.dtype, leaky, node.argument("self"))
    if "functional" not in node.operator:
        return result
    return relax.Tuple([result, node.argument("noise")])


CONVERSIONS: dict[str, Convert] = {
    **dict.fromkeys(
        [f"{name}{suffix}.default" for name in ("elu", "selu", "celu") for suffix in ("", "_")],
        convert_elu,
    ),
    "softplus.default": convert_softplus,
    "softsign.default": convert_softsign,
    "softshrink.default": convert_shrink,
    "hardshrink.default": convert_shrink,
    "threshold.default": convert_threshold,
    "threshold_.default": convert_threshold,
    "mish.default": convert_mish,
    "mish_.default": convert_mish,
    "log_sigmoid.default": convert_log_sigmoid,
    **dict.fromkeys(
        ("rrelu.default", "rrelu_with_noise.default", "rrelu_with_noise_functional.default"),
        convert_rrelu,
    ),
}

_DATA = np.array([-1.5, 2], np.float32)

FIX = Fix(
    name="torch_activations",
    operators=tuple(CONVERSIONS),
    fault="ELU, SELU and CELU of PyTorch programs lose scale and alpha; others are not imported",
    issue=None,
    parts=(
        FaultPart("ELU", partial(differs, "elu.default", _DATA, 1.5, 2.0, 0.5)),
        FaultPart("CELU", partial(differs, "celu.default", _DATA, 2.0)),
        FaultPart("missing", partial(differs, "mish.default", _DATA)),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_limits",
    patch=patch(CONVERSIONS),
)
