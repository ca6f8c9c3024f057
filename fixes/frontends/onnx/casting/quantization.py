"""QuantizeLinear, DequantizeLinear and their kin, of all granularities and data types.

Quotients and products are computed in the precision that ONNX asks for. A half that is computed in
float32 and rounded is the same: float32 has more than twice its digits.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import Body, Guard, NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.casting.formats import (
    EIGHT_BITS,
    EXPONENTS,
    held,
    limits,
    required,
)
from relaxcheck.fixes.frontends.onnx.casting.narrow_integers import (
    get_numpy,
    lacks_four_bits,
    narrow_rebindings,
    with_widths,
)
from relaxcheck.fixes.frontends.onnx.computing import computed, filled
from relaxcheck.fixes.frontends.onnx.converting import (
    IMPORTER,
    Convert,
    Node,
    patch,
    rebindings,
)
from relaxcheck.fixes.frontends.onnx.elementwise.numbers import cast, constant, tensor, wide
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile(
    "relax/frontend/onnx/quantization.py",
    "QuantizeLinear, DequantizeLinear and their kin, of all granularities and data types.",
)

_INTEGERS = ("int8", "uint8", "int16", "uint16")


def _quantize_linear(node: Node) -> Expr:
    x, scale = (operands.required(node, index, name) for index, name in ((0, "x"), (1, "scale")))
    zero_point = operands.optional(node, 2, "zero_point")
    to = "uint8" if zero_point is None else tvm_api.dtype_of(zero_point)
    if asked := node.attribute("output_dtype", 0):
        to = required(node.operator, "output_dtype", asked)
        _require_same(node, to, zero_point)
    precision = tvm_api.dtype_of(scale)
    if precision == EXPONENTS:
        # Its numbers are powers of 2, and have no sign: no quotient is one of them.
        precision = tvm_api.dtype_of(x)
    if to in _INTEGERS and not node.attribute("precision", 0) and _is_usual(node, x, scale):
        return node.converted()
    if asked := node.attribute("precision", 0):
        precision = required(node.operator, "precision", asked)
    scale, zero_point = (
        None if each is None else _aligned(node, each, x) for each in (scale, zero_point)
    )
    return quantized(node, x, scale, zero_point, to, precision)


def _is_usual(node: Node, x: Expr, scale: Expr) -> bool:
    """True if TVM's own operators know the granularity, and ``scale`` and the floats are float32.

    They keep quantization in sight of whoever looks for it.
    """
    shape = tvm_api.shape_of(scale)
    return (
        tvm_api.dtype_of(scale) == "float32"
        and tvm_api.dtype_of(x) in ("float32", *_INTEGERS)
        and not node.attribute("block_size", 0)
        and (not shape or (len(shape) == 1 and tvm_api.as_int(shape[0]) != 1))
    )


def _require_same(node: Node, to: str, zero_point: Expr | None) -> None:
    if zero_point is not None and tvm_api.dtype_of(zero_point) != held(to):
        why = f"the zero point has dtype {tvm_api.dtype_of(zero_point)}"
        raise invalid(node.operator, why, output_dtype=to)


def quantized(
    node: Node, x: Expr, scale: Expr, zero_point: Expr | None, to: str, precision: str
) -> Expr:
    """``x / scale + zero_point``, rounded and saturated, in the dtype that holds ``to``.

    ``scale`` and ``zero_point`` broadcast to ``x``. The quotient has ``precision``.
    """
    inner = wide(precision) if "float" in precision else "float32"
    quotient = relax.op.divide(*(cast(each, tvm_api.dtype_of(each), inner) for each in (x, scale)))
    if "float" in precision:
        # The cast back to more digits is exact.
        quotient = cast(cast(quotient, inner, precision), precision, inner)
    if to in EIGHT_BITS:
        least, most = -EIGHT_BITS[to], EIGHT_BITS[to]
    else:
        quotient = relax.op.round(quotient)
        least, most = limits(to)
    if zero_point is not None:
        quotient = quotient + cast(zero_point, tvm_api.dtype_of(zero_point), inner)
    result = node.emit(quotient)
    if node.attribute("saturate", 1) or to not in EIGHT_BITS:
        for beyond, limit in ((relax.op.less, least), (relax.op.greater, most)):
            bound = constant(float(limit), inner)
            result = node.emit(relax.op.where(beyond(result, bound), bound, result))
    return node.emit(cast(result, inner, held(to)))


def _dequantize_linear(node: Node) -> Expr:
    x, scale = (operands.required(node, index, name) for index, name in ((0, "x"), (1, "scale")))
    zero_point = operands.optional(node, 2, "zero_point")
    # Before opset 19, scales of other dtypes are com.microsoft's.
    to = tvm_api.dtype_of(scale)
    if asked := node.attribute("output_dtype", 0):
        to = required(node.operator, "output_dtype", asked)
    if to == "float32" and tvm_api.dtype_of(x) in _INTEGERS and _is_usual(node, x, scale):
        return node.converted()
    scale, zero_point = (
        None if each is None else _aligned(node, each, x) for each in (scale, zero_point)
    )
    return dequantized(node, x, scale, zero_point, to)


def dequantized(node: Node, x: Expr, scale: Expr, zero_point: Expr | None, to: str) -> Expr:
    """``(x - zero_point) * scale`` in the dtype ``to``, to whose digits the product is rounded."""
    inner = "float64" if to == "float64" else "float32"
    exact = "float32" if "float" in tvm_api.dtype_of(x) else "int32"
    value = cast(x, tvm_api.dtype_of(x), exact)
    if zero_point is not None:
        value = value - cast(zero_point, tvm_api.dtype_of(zero_point), exact)
    product = cast(value, exact, inner) * cast(scale, tvm_api.dtype_of(scale), inner)
    return node.emit(cast(product, inner, to))


def _aligned(node: Node, parameter: Expr, x: Expr) -> Expr:
    """``parameter`` of a tensor, an axis or blocks of ``x``, so that it broadcasts to ``x``."""
    rank, own = (len(tvm_api.shape_of(each)) for each in (x, parameter))
    size = node.attribute("block_size", 0)
    if rank <= 1 and own <= 1 and not size:
        return parameter
    # A vector has a single axis, whatever the default.
    axis = node.attribute("axis", 1) if rank > 1 else 0
    if not -rank <= axis < rank:
        raise invalid(node.operator, f"the input has {rank} dimensions", axis=axis)
    axis %= rank
    if size:
        return _of_blocks(node, parameter, x, axis, size)
    if own != 1 or tvm_api.as_int(tvm_api.shape_of(parameter)[0]) == 1:
        return parameter if own != 1 else node.emit(relax.op.reshape(parameter, ()))
    shape: list[Any] = [1] * rank
    shape[axis] = tvm_api.shape_of(parameter)[0]
    return node.emit(relax.op.reshape(parameter, shape))


def _of_blocks(node: Node, parameter: Expr, x: Expr, axis: int, size: int) -> Expr:
    """``parameter`` with each element along ``axis`` as often as its block has elements."""
    wanted, there = (tvm_api.shape_of(each) for each in (x, parameter))
    if size < 0 or len(wanted) != len(there):
        why = f"the shapes are {tvm_api.show(wanted)} and {tvm_api.show(there)}"
        raise invalid(node.operator, why, block_size=size)

    def compute(values: Tensor, sizes: Sequence[PrimExpr]) -> Tensor:
        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            return values[(*at[:axis], tvm_api.floordiv(at[axis], size), *at[axis + 1 :])]

        return filled(sizes, element, "blocks")

    return computed(node, compute, parameter, [*there[:axis], wanted[axis], *there[axis + 1 :]])


def _dynamic_quantize_linear(node: Node) -> Expr:
    """The range of ``x`` and 0, in 255 steps; of zeros alone the step is 1."""
    x = tensor(node, 0)
    zero, most = constant(0.0, "float32"), constant(255.0, "float32")
    high = node.emit(relax.op.maximum(relax.op.max(x), zero))
    low = node.emit(relax.op.minimum(relax.op.min(x), zero))
    step = node.emit((high - low) / most)
    scale = node.emit(relax.op.where(relax.op.equal(step, zero), constant(1.0, "float32"), step))
    zero_point = quantized(node, node.emit(relax.op.negative(low)), scale, None, "uint8", "float32")
    y = quantized(node, x, scale, zero_point, "uint8", "float32")
    return relax.Tuple([y, scale, zero_point])


def _of_two(node: Node, combine: Any) -> Expr:
    """``combine`` of two dequantized inputs, quantized: the inputs of each are three in a row."""
    values = [_dequantized_at(node, index) for index in (0, 3)]
    return _quantized_at(node, combine(*values), 6)


def _dequantized_at(node: Node, index: int) -> Expr:
    x, scale, zero_point = _triple(node, index)
    return dequantized(node, x, scale, zero_point, "float32")


def _quantized_at(node: Node, value: Expr, index: int) -> Expr:
    scale, zero_point = _parameters(node, index)
    to = tvm_api.dtype_of(tensor(node, 0))
    return quantized(node, node.emit(value), scale, zero_point, to, "float32")


def _triple(node: Node, index: int) -> Sequence[Any]:
    return (tensor(node, index), *_parameters(node, index + 1))


def _parameters(node: Node, index: int) -> list[Any]:
    """The scale number ``index`` and the zero point behind it, as scalars."""
    return [
        None if node.input(each) is None else node.emit(relax.op.reshape(tensor(node, each), ()))
        for each in (index, index + 1)
    ]


def _qlinear_add(node: Node) -> Expr:
    return _of_two(node, relax.op.add)


def _qlinear_mul(node: Node) -> Expr:
    return _of_two(node, relax.op.multiply)


def _qlinear_sigmoid(node: Node) -> Expr:
    return _quantized_at(node, relax.op.sigmoid(_dequantized_at(node, 0)), 3)


def _qlinear_leaky_relu(node: Node) -> Expr:
    alpha = float(node.attribute("alpha", 0.01))
    return _quantized_at(node, relax.op.nn.leakyrelu(_dequantized_at(node, 0), alpha), 3)


CONVERSIONS: dict[str, Convert] = {
    "QuantizeLinear": _quantize_linear,
    "DequantizeLinear": _dequantize_linear,
    "DynamicQuantizeLinear": _dynamic_quantize_linear,
    "QLinearAdd": _qlinear_add,
    "QLinearMul": _qlinear_mul,
    "QLinearSigmoid": _qlinear_sigmoid,
    "QLinearLeakyRelu": _qlinear_leaky_relu,
}


def _dequantizes_blocks() -> bool:
    x, scale = np.array([[2, 4, 6, 8]], "int8"), np.array([[0.5, 2]], "float32")
    model = node_model("DequantizeLinear", {"x": x, "scale": scale}, 21, axis=1, block_size=2)
    return not fails(model, [x, scale], [np.array([[1, 2, 12, 16]], "float32")])


def _quantizes_to_eight_bits() -> bool:
    import ml_dtypes

    x, scale = np.array([1, 1000], "float32"), np.array(2, "float32")
    zero = np.array(0, ml_dtypes.float8_e4m3fn)
    model = node_model("QuantizeLinear", {"x": x, "scale": scale, "zero": zero}, 19)
    expected = np.array([0.5, 448]).astype(ml_dtypes.float8_e4m3fn)
    return not fails(model, [x, scale, zero], [expected])


def _quantizes_zeros() -> bool:
    x = np.zeros(2, "float32")
    model = node_model("DynamicQuantizeLinear", {"x": x}, 11, outputs=3)
    expected = [np.zeros(2, "uint8"), np.array(1, "float32"), np.array(0, "uint8")]
    return not fails(model, [x], expected)


FIX = Fix(
    name="onnx_quantization",
    operators=tuple(CONVERSIONS),
    fault=(
        "QuantizeLinear and DequantizeLinear of ONNX models know neither blocks, nor integers of"
        " 4 bits, nor 8-bit floating-point formats; DynamicQuantizeLinear divides by 0 where all"
        " elements are 0"
    ),
    issue=None,
    parts=(
        FaultPart("blocks", lambda: not _dequantizes_blocks()),
        FaultPart("8 bits", lambda: not _quantizes_to_eight_bits()),
        FaultPart("4 bits", lacks_four_bits),
        FaultPart("zeros", lambda: not _quantizes_zeros()),
    ),
    rebindings=lambda: (*narrow_rebindings(), *rebindings(CONVERSIONS)()),
    after="onnx_casts",
    patch=(
        *patch(CONVERSIONS),
        Body(IMPORTER, get_numpy),
        Guard(IMPORTER, "from_onnx", with_widths, "model", result="model"),
    ),
)
