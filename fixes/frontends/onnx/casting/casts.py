"""Cast, CastLike and BitCast of ONNX, of every pair of data types that TVM holds."""

from collections.abc import Callable

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding, invalid, refuse
from relaxcheck.fixes.framework.patch import Guard, NewFile
from relaxcheck.fixes.frontends.onnx.casting.exponents import from_exponents, to_exponents
from relaxcheck.fixes.frontends.onnx.casting.formats import (
    EIGHT_BITS,
    EXPONENTS,
    NARROW,
    bits_of,
    has_other,
    held,
    require_held,
    required,
)
from relaxcheck.fixes.frontends.onnx.converting import (
    IMPORTER,
    Convert,
    Node,
    patch,
    rebindings,
)
from relaxcheck.fixes.frontends.onnx.elementwise.numbers import (
    cast,
    constant,
    is_float,
    tensor,
    wide,
)
from relaxcheck.fixes.frontends.onnx.preparing import Model, preparing
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions

UPSTREAM = NewFile(
    "relax/frontend/onnx/casts.py",
    "Cast, CastLike and BitCast of ONNX, of every pair of data types that TVM holds.",
)

_FOUR_BITS = "float4_e2m1fn"
"""The format of which TVM casts constants alone."""

_LARGEST_BYTE = 255

_WIDTHS = {"bool": 8, "bfloat16": 16, **dict.fromkeys((*EIGHT_BITS, EXPONENTS), 8)}


def _cast(node: Node) -> Expr:
    to = required(node.operator, "to", node.attribute("to"))
    value = node.inputs[0]
    if isinstance(value, relax.ShapeExpr) or not tvm_api.is_tensor(value):
        return node.converted()
    return _in_dtype(node, value, to)


def _cast_like(node: Node) -> Expr:
    target = node.inputs[1]
    is_tensor = not isinstance(target, relax.ShapeExpr) and tvm_api.is_tensor(target)
    to = tvm_api.dtype_of(target) if is_tensor else "int64"
    return _in_dtype(node, tensor(node, 0), to)


def _in_dtype(node: Node, value: Expr, to: str) -> Expr:
    dtype = tvm_api.dtype_of(value)
    if dtype == to:
        return value
    if dtype == _FOUR_BITS and not tvm_api_functions.is_constant(value):
        # A weight that is a parameter of the module.
        raise refuse(node.operator, **{"dtype of input": dtype})
    if dtype == EXPONENTS:
        return _in_dtype(node, from_exponents(node, value), to)
    if dtype in (*EIGHT_BITS, "bfloat16") and to != "float32":
        return _in_dtype(node, node.emit(relax.op.astype(value, "float32")), to)
    if to == EXPONENTS:
        value = node.emit(cast(value, dtype, "float32"))
        mode, saturate = node.attribute("round_mode", "up"), node.attribute("saturate", 1)
        return to_exponents(node, value, mode, bool(saturate))
    if to in EIGHT_BITS:
        return relax.op.astype(_within(node, value, to), to)
    if to in NARROW:
        return _wrapped(node, _by_tvm(node, value, "int32"), to)
    return _by_tvm(node, value, to)


def _by_tvm(node: Node, value: Expr, to: str) -> Expr:
    from onnx import helper

    if to == "bfloat16":
        return relax.op.astype(value, to)
    if 0 in _numbers(value):
        # TVM's own would make a constant without elements, which no module can load.
        return node.emit(relax.op.zeros(tvm_api.shape_of(value), to))
    number = helper.np_dtype_to_tensor_dtype(np.dtype(to))
    return node.emit(_originals(node)(value, int(number)))


def _numbers(value: Expr) -> list[int | None]:
    """The sizes of ``value``, None for symbols."""
    return list(map(tvm_api.as_int, tvm_api.shape_of(value))) if tvm_api.has_shape(value) else []


def _originals(node: Node) -> Callable[[Expr, int], Expr]:
    """TVM's own Cast, which serves CastLike too."""
    from tvm.relax.frontend.onnx import onnx_frontend

    function = onnx_frontend.Cast.get_converter(node.opset)
    return lambda value, to: function(node.builder, [value], {"to": to}, node.parameters)


def _within(node: Node, value: Expr, to: str) -> Expr:
    """``value`` within the numbers of ``to`` if it saturates; NaN stays."""
    dtype = tvm_api.dtype_of(value)
    most = EIGHT_BITS[to]
    fits = dtype in ("bool", "int8") or (dtype == "uint8" and most > _LARGEST_BYTE)
    if not node.attribute("saturate", 1) or fits:
        return value
    inner = wide(dtype) if is_float(dtype) else "float64"
    value = node.emit(cast(value, dtype, inner))
    for beyond, limit in ((relax.op.greater, most), (relax.op.less, -most)):
        bound = constant(limit, inner)
        value = node.emit(relax.op.where(beyond(value, bound), bound, value))
    return value


def _wrapped(node: Node, value: Expr, to: str) -> Expr:
    """The lowest bits of an int32, in the 8 bits that hold them."""
    shift = constant(32 - NARROW[to], "int32")
    if to.startswith("u"):
        mask = constant(2 ** NARROW[to] - 1, "int32")
        return relax.op.astype(relax.op.bitwise_and(value, mask), held(to))
    value = relax.op.right_shift(relax.op.left_shift(value, shift), shift)
    return relax.op.astype(value, held(to))


def _bit_cast(node: Node) -> Expr:
    to = required(node.operator, "to", node.attribute("to"))
    value = tensor(node, 0)
    dtype = tvm_api.dtype_of(value)
    if _width(dtype) != _width(to):
        raise invalid(node.operator, f"{dtype} has another number of bits", to=to)
    if dtype == to:
        return value
    if "bool" in (dtype, to):
        # A truth value is a byte of 0 or 1.
        byte = node.emit(_reinterpreted(node, cast(value, "bool", "uint8"), "uint8"))
        return cast(byte, "uint8", "bool") if to == "bool" else _reinterpreted(node, byte, to)
    return _reinterpreted(node, value, to)


def _width(dtype: str) -> int:
    return _WIDTHS.get(dtype) or bits_of(dtype)


def _reinterpreted(node: Node, value: Expr, to: str) -> Expr:
    value = node.emit(value)
    if tvm_api.dtype_of(value) == to:
        return value

    def compute(data: Tensor) -> Tensor:
        def element(*at: PrimExpr) -> PrimExpr:
            return tirx.reinterpret(to, data(*at))

        return te.compute(data.shape, element, name="bitcast")

    return node.builder.call_te(compute, value, primfunc_name_hint="bitcast")


CONVERSIONS: dict[str, Convert] = {"Cast": _cast, "CastLike": _cast_like, "BitCast": _bit_cast}


def _checked(model: Model) -> Model:
    require_held(model)
    return model


def _rebindings() -> tuple[Rebinding, ...]:
    return (preparing(_checked, has_other), *rebindings(CONVERSIONS)())


def _saturates() -> bool:
    import ml_dtypes
    from onnx import TensorProto

    x = np.array([1000, -2], "float32")
    model = node_model("Cast", {"x": x}, 19, to=TensorProto.FLOAT8E4M3FN)
    return not fails(model, [x], [np.array([448, -2], "float32").astype(ml_dtypes.float8_e4m3fn)])


def _reinterprets() -> bool:
    from onnx import TensorProto

    x = np.array([1, -2], "float32")
    model = node_model("BitCast", {"x": x}, 26, to=TensorProto.INT32)
    return not fails(model, [x], [x.view("int32")])


def _refuses_texts() -> bool:
    from onnx import TensorProto, helper
    from tvm.relax.frontend.onnx import from_onnx

    text = helper.make_tensor_value_info("x", TensorProto.STRING, [1])
    graph = helper.make_graph([], "graph", [text], [text])
    try:
        from_onnx(helper.make_model(graph))
    except Exception as error:
        return "STRING" in str(error)
    return False


FIX = Fix(
    name="onnx_casts",
    operators=tuple(CONVERSIONS),
    fault=(
        "Cast and CastLike of ONNX models to 8-bit floating-point formats do not saturate, BitCast"
        " is not imported, and data types that TVM lacks end in internal errors"
    ),
    issue=None,
    parts=(
        FaultPart("saturation", lambda: not _saturates()),
        FaultPart("bits", lambda: not _reinterprets()),
        FaultPart("other data types", lambda: not _refuses_texts()),
    ),
    rebindings=_rebindings,
    after="onnx_special_values",
    patch=(*patch(CONVERSIONS), Guard(IMPORTER, "from_onnx", require_held, "model")),
)
