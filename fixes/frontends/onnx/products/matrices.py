"""ONNX's MatMul, MatMulInteger and Gemm.

TVM infers no shape where a symbol meets a number or another symbol, and leaves the product or its
sum unlowered; rounds fractions of factors of integers away; and takes a zero point of each matrix
for one of each row.
"""

from collections.abc import Sequence

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import broadcast, computed, filled
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/matrices.py")

Indices = Sequence[PrimExpr]
_QUANTIZED = ("int8", "uint8")
_SUMS = "int32"


def product(node: Node, left: Expr, right: Expr, names: tuple[str, str]) -> Expr:
    """The product of two tensors of one dtype, as NumPy's matmul; of float16 in float32.

    Raises:
        ValueError: their shapes do not go together.
    """
    dims = [tvm_api.shape_of(value) for value in (left, right)]
    shown = {f"shape of {name}": tvm_api.show(each) for name, each in zip(names, dims, strict=True)}
    if not all(dims):
        raise invalid(node.operator, "both must have 1 dimension or more", **shown)
    inner = [tvm_api.as_int(dims[0][-1]), tvm_api.as_int(dims[1][-2 if len(dims[1]) > 1 else -1])]
    if None not in inner and inner[0] != inner[1]:
        raise invalid(node.operator, "the inner dimensions differ", **shown)
    for before, after in zip(dims[0][-3::-1], dims[1][-3::-1], strict=False):
        pair = {tvm_api.as_int(before), tvm_api.as_int(after)} - {None, 1}
        if len(pair) > 1:
            raise invalid(node.operator, "they do not broadcast", **shown)
    dtype = tvm_api.dtype_of(left)
    sums = operands.inner_dtype(dtype)
    call = relax.op.matmul(left, right, out_dtype=None if sums == dtype else sums)
    result = node.builder.normalize(call)
    if tvm_api.has_shape(result) and 0 not in inner:
        return node.emit(result)
    wide = [operands.widened(node, value, sums) for value in (left, right)]
    return computed(node, _product, *wide)


def _product(left: Tensor, right: Tensor) -> Tensor:
    """The product, with dimensions that broadcast at run time, and 0 over an empty inner one."""
    row, column = len(left.shape) > 1, len(right.shape) > 1
    batches = [list(left.shape[:-2]), list(right.shape[:-2])]
    rank = max(map(len, batches))
    one = tvm_api.integer(1)
    padded = [[one] * (rank - len(batch)) + batch for batch in batches]
    shape = [_common(*pair) for pair in zip(*padded, strict=True)]
    shape += ([left.shape[-2]] if row else []) + ([right.shape[-1]] if column else [])

    def element(at: Indices) -> PrimExpr:
        k = te.reduce_axis((0, left.shape[-1]), "k")
        batch = list(at[:rank])
        rows = [at[rank]] if row else []
        columns = [at[rank + row]] if column else []
        first = broadcast(left, [*batch, *rows, k.var])
        second = broadcast(right, [*batch, k.var, *columns])
        return te.sum(first * second, axis=k)

    return filled(shape, element, "product")


def _common(left: PrimExpr, right: PrimExpr) -> PrimExpr:
    """The dimension that two broadcast to."""
    if tvm_api.as_int(left) == 1 or tvm_api.proves_equal(left, right):
        return right
    return left if tvm_api.as_int(right) is not None else tirx.max(left, right)


def _summed(node: Node, left: Expr, right: Expr) -> Expr:
    """``left`` plus ``right``, which broadcasts to it."""
    result = node.builder.normalize(relax.op.add(left, right))
    if tvm_api.has_shape(result):
        return node.emit(result)

    def compute(source: Tensor, more: Tensor) -> Tensor:
        return filled(source.shape, lambda at: source[tuple(at)] + broadcast(more, at), "sum")

    return computed(node, compute, left, right)


def matmul(node: Node) -> Expr:
    """The product of matrices, or of stacks of them.

    Raises:
        ValueError: the shapes do not go together.
    """
    left, right = operands.required(node, 0, "A"), operands.required(node, 1, "B")
    dtype = tvm_api.dtype_of(left)
    inner = "float32" if dtype == "bfloat16" else dtype
    wide = [operands.widened(node, value, inner) for value in (left, right)]
    return operands.widened(node, product(node, wide[0], wide[1], ("A", "B")), dtype)


def gemm(node: Node) -> Expr:
    """``alpha * A @ B + beta * C``.

    Raises:
        ValueError: the shapes do not go together, or an attribute is invalid.
        OpNotImplemented: integers are to be multiplied by a fraction.
    """
    values = [operands.required(node, index, name) for index, name in ((0, "A"), (1, "B"))]
    more = operands.optional(node, 2, "C")
    dtype = tvm_api.dtype_of(values[0])
    for name, value in zip("AB", values, strict=True):
        if operands.rank_of(value) != 2:
            shape = tvm_api.show(tvm_api.shape_of(value))
            raise invalid(node.operator, "it must have 2 dimensions", **{f"shape of {name}": shape})
    inner = "float32" if dtype == "bfloat16" else dtype
    wide = [operands.widened(node, value, inner) for value in values]
    for at, name in enumerate(("transA", "transB")):
        if operands.flag(node, name):
            wide[at] = node.emit(relax.op.permute_dims(wide[at], [1, 0]))
    result = _multiplied(node, product(node, wide[0], wide[1], ("A", "B")), "alpha")
    if more is not None and operands.rank_of(more) > 2:
        shape = tvm_api.show(tvm_api.shape_of(more))
        raise invalid(node.operator, "it must have 2 dimensions at most", **{"shape of C": shape})
    if more is not None:
        sums = tvm_api.dtype_of(result)
        scaled = _multiplied(node, operands.widened(node, more, sums), "beta")
        result = _summed(node, result, scaled)
    return operands.widened(node, result, dtype)


def _multiplied(node: Node, value: Expr, name: str) -> Expr:
    """``value`` times the attribute ``name``."""
    factor, dtype = operands.decimal(node, name, 1.0), tvm_api.dtype_of(value)
    if factor == 1:
        return value
    if "float" not in dtype and factor != int(factor):
        raise refuse(node.operator, **{name: factor, "dtype of A": dtype})
    constant = np.array(factor if "float" in dtype else int(factor)).astype(dtype)
    return node.emit(relax.op.multiply(value, tvm_api.const(constant)))


def matmul_integer(node: Node) -> Expr:
    """The product of integers less their zero points, in int32.

    Raises:
        ValueError: the shapes do not go together.
        OpNotImplemented: a dtype is not one of 8 bits.
    """
    values = [
        less_zero_point(node, index, name, 2 + index, index == 0)
        for index, name in enumerate(("A", "B"))
    ]
    return product(node, values[0], values[1], ("A", "B"))


def less_zero_point(node: Node, index: int, name: str, point: int, rows: bool) -> Expr:
    """Input number ``index``, in int32, less its zero point, which is input number ``point``.

    A vector has a zero point for each row, or for each column.

    Raises:
        OpNotImplemented: a dtype is not one of 8 bits.
    """
    value = _quantized(node, name, operands.required(node, index, name))
    wide = operands.widened(node, value, _SUMS)
    zero = operands.optional(node, point, f"zero point of {name}")
    if zero is None:
        return wide
    zero = operands.widened(node, _quantized(node, f"zero point of {name}", zero), _SUMS)
    placed = placed_along(node, zero, rows, operands.rank_of(value))

    def compute(source: Tensor, points: Tensor) -> Tensor:
        return filled(source.shape, lambda at: source[tuple(at)] - broadcast(points, at), "less")

    return computed(node, compute, wide, placed)


def _quantized(node: Node, name: str, value: Expr) -> Expr:
    dtype = tvm_api.dtype_of(value)
    if dtype not in _QUANTIZED:
        raise refuse(node.operator, **{f"dtype of {name}": dtype})
    return value


def placed_along(node: Node, value: Expr, rows: bool, rank: int) -> Expr:
    """``value`` against matrices: a vector has an element for each row, or for each column."""
    dims = tvm_api.shape_of(value)
    if len(dims) != 1:
        return value
    if tvm_api.as_int(dims[0]) == 1:
        return node.emit(relax.op.reshape(value, relax.ShapeExpr([])))
    if rank < 2:
        return value
    return operands.reshaped(node, value, [dims[0], 1] if rows else [1, dims[0]])


CONVERSIONS: dict[str, Convert] = {
    "MatMul": matmul,
    "Gemm": gemm,
    "MatMulInteger": matmul_integer,
}

_MATRIX = np.array([[1, 2], [3, 4]], np.float32)


def _leaves_symbols() -> bool:
    """True if a sum of a symbolic size with a number is left unlowered."""
    inputs: dict[str, Array] = {"A": _MATRIX, "B": _MATRIX, "C": _MATRIX[:1]}
    shapes: dict[str, list[int | str]] = {"C": ["n", 2]}
    model = node_model("Gemm", inputs, 13, shapes=shapes)
    return fails(model, list(inputs.values()), [_MATRIX @ _MATRIX + _MATRIX[:1]])


def _leaves_batches() -> bool:
    """True if stacks of matrices of symbolic numbers are not multiplied."""
    inputs: dict[str, Array] = {"A": _MATRIX[None], "B": np.stack([_MATRIX, 2 * _MATRIX])}
    shapes: dict[str, list[int | str]] = {"A": ["m", 2, 2], "B": ["n", 2, 2]}
    model = node_model("MatMul", inputs, 13, shapes=shapes)
    return fails(model, list(inputs.values()), [np.matmul(*inputs.values())])


FIX = Fix(
    name="onnx_matrices",
    operators=tuple(CONVERSIONS),
    fault=(
        "products of ONNX's MatMul, and sums of Gemm, are left unlowered where symbols may"
        " broadcast"
    ),
    issue=None,
    parts=(
        FaultPart("a symbolic summand", _leaves_symbols),
        FaultPart("symbolic batches", _leaves_batches),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_einsum",
    patch=patch(CONVERSIONS),
)
