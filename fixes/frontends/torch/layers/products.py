"""Products of matrices, in the dtype of their operands, with ``alpha`` and ``beta``."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from tvm import relax, te

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import broadcast, computed
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.elements import broadcast_shape
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/torch/products.py")

_ADDED = {
    "addmm": ("mat1", "mat2"),
    "addmv": ("mat", "vec"),
    "addbmm": ("batch1", "batch2"),
    "baddbmm": ("batch1", "batch2"),
}
"""The arguments that are multiplied, of functions that add the product to ``self``."""

_ALONE = {
    "mm": ("self", "mat2"),
    "bmm": ("self", "mat2"),
    "mv": ("self", "vec"),
    "dot": ("self", "tensor"),
    "matmul": ("self", "other"),
}


def convert_product(node: Node) -> Expr:
    """The product of two tensors, as in ``matmul``."""
    left, right = (node.argument(name) for name in _ALONE[node.operator.partition(".")[0]])
    return _multiplied(node, left, right)


def _multiplied(node: Node, left: Expr, right: Expr) -> Expr:
    both = (operands.cast(node, each, node.dtype) for each in (left, right))
    return node.emit(relax.op.matmul(*both, out_dtype=node.dtype))


def convert_sum(node: Node) -> Expr:
    """``beta * self + alpha * product``; what has the factor 0 does not count, not even NaN."""
    name, dtype = node.operator.partition(".")[0], node.dtype
    alpha, beta = node.argument("alpha"), node.argument("beta")
    left, right = (node.argument(each) for each in _ADDED[name])
    product = _multiplied(node, left, right)
    if name == "addbmm":
        product = node.emit(relax.op.sum(product, [0]))
    if _is(alpha, 0):
        product = node.emit(relax.op.zeros_like(product))
    elif not _is(alpha, 1):
        product = node.emit(relax.op.multiply(product, operands.tensor(node, alpha, dtype)))
    if _is(beta, 0):
        return product
    added = operands.tensor(node, node.argument("self"), dtype)
    if not _is(beta, 1):
        added = node.emit(relax.op.multiply(added, operands.tensor(node, beta, dtype)))
    return node.emit(relax.op.add(added, product))


def _is(factor: Any, value: int) -> bool:
    return isinstance(factor, int | float) and factor == value


def convert_linear(node: Node) -> Expr:
    """``input`` times the transposed ``weight``, plus ``bias`` if there is one."""
    dtype = node.dtype
    data, weight, bias = (node.argument(name) for name in ("input", "weight", "bias"))
    axes = list(range(operands.rank_of(weight)))[::-1]
    turned = node.emit(relax.op.permute_dims(weight, axes))
    product = node.emit(relax.op.matmul(data, turned, out_dtype=dtype))
    return product if bias is None else node.emit(relax.op.add(product, bias))


def convert_outer(node: Node) -> Expr:
    """The product of each pair of elements of two vectors."""
    dtype = node.dtype
    left, right = (operands.cast(node, node.argument(each), dtype) for each in ("self", "vec2"))
    column = operands.reshaped(node, left, [tvm_api.shape_of(left)[0], 1])
    return node.emit(relax.op.multiply(column, right))


def convert_bilinear(node: Node) -> Expr:
    """``weight`` times each pair of elements of two inputs, summed, plus ``bias`` if any."""
    names = ("input1", "input2", "weight")
    data = [node.argument(name) for name in names]
    lead = operands.rank_of(data[0]) - 1
    # The dimensions are those of the batch, then one of the output and one of each input.
    widened = [[lead, lead + 2], [lead, lead + 1], list(range(lead))]
    result = _triple(node, data, widened, [lead + 1, lead + 2])
    bias = node.argument("bias")
    return result if bias is None else node.emit(relax.op.add(result, bias))


def convert_trilinear(node: Node) -> Expr:
    """The product of three tensors, widened by dimensions of 1, summed over some dimensions."""
    data = [node.argument(f"i{number}") for number in (1, 2, 3)]
    widened = [list(node.argument(f"expand{number}")) for number in (1, 2, 3)]
    return _triple(node, data, widened, list(node.argument("sumdim")))


def _triple(
    node: Node, data: Sequence[Expr], widened: Sequence[list[int]], summed: Sequence[int]
) -> Expr:
    """The product of ``data``, with new dimensions ``widened``, summed over ``summed``."""
    inner = operands.inner_dtype(node.dtype)
    factors = [
        node.emit(relax.op.expand_dims(operands.cast(node, each, inner), axes))
        for each, axes in zip(data, widened, strict=True)
    ]

    def compute(tensors: Sequence[Tensor]) -> Tensor:
        dims = broadcast_shape([tensor.shape for tensor in tensors])
        axes = {axis: te.reduce_axis((0, dims[axis]), name=f"k{axis}") for axis in summed}
        kept = [dim for axis, dim in enumerate(dims) if axis not in axes]

        def element(*at: PrimExpr) -> PrimExpr:
            others = iter(at)
            place = [axes[axis].var if axis in axes else next(others) for axis in range(len(dims))]
            first, second, third = (broadcast(tensor, place) for tensor in tensors)
            value = first * second * third
            return te.sum(value, axis=list(axes.values())) if axes else value

        return te.compute(kept, element, name="triple")

    return operands.cast(node, computed(node, compute, factors), node.dtype)


CONVERSIONS: dict[str, Convert] = {
    **dict.fromkeys([f"{name}.default" for name in _ALONE], convert_product),
    **dict.fromkeys([f"{name}.default" for name in _ADDED], convert_sum),
    "linear.default": convert_linear,
    "outer.default": convert_outer,
    "bilinear.default": convert_bilinear,
    "_trilinear.default": convert_trilinear,
}

_MATRIX = np.array([[1, 2], [3, 4]])

FIX = Fix(
    name="torch_products",
    operators=tuple(CONVERSIONS),
    fault="products of PyTorch programs become float32 whatever the dtype of their operands",
    issue=None,
    parts=(
        FaultPart("float64", partial(differs, "mm.default", _MATRIX * 0.1, _MATRIX * 0.1)),
        FaultPart("integers", partial(differs, "bmm.default", _MATRIX[None], _MATRIX[None])),
        FaultPart("layers", partial(differs, "linear.default", _MATRIX * 0.1, _MATRIX * 0.1)),
        FaultPart(
            "missing", partial(differs, "addmv.default", _MATRIX[0], _MATRIX, _MATRIX[1], alpha=2)
        ),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_resizing",
    patch=patch(CONVERSIONS),
)
