"""The sizes of axes after ONNX's Resize or Upsample, by scales or as stated."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from tvm import tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed, filled
from relaxcheck.fixes.frontends.onnx.converting import Node
from relaxcheck.fixes.frontends.onnx.images import kernels
from relaxcheck.fixes.frontends.onnx.images.kernels import number
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/extents.py")

_HAS_ROI = 11
"""The opset from which the scales are the input behind a window of interest."""

_POLICIES = ("stretch", "not_larger", "not_smaller")


def _present(node: Node, index: int) -> bool | None:
    """True if input number ``index`` is there and has elements; None if that is not known."""
    value = node.input(index)
    if value is None:
        return False
    if not tvm_api.is_tensor(value) or not tvm_api.has_shape(value):
        return True
    dims = list(map(tvm_api.as_int, tvm_api.shape_of(value)))
    return False if 0 in dims else None if None in dims else True


def sizes_after(node: Node, data: Expr, axes: Sequence[int]) -> tuple[list[PrimExpr], Any]:
    """The sizes of ``axes`` after resizing, and the scales.

    A window of interest has no part in them, as in ONNX Runtime and in ONNX's evaluator.
    """
    by_attribute = node.attribute("scales")
    if node.operator == "Upsample" and by_attribute is not None:
        return _scaled(node, data, axes, [float(scale) for scale in by_attribute])
    index = 2 if node.operator == "Resize" and node.opset >= _HAS_ROI else 1
    by_sizes = index == 2 and _present(node, 3)
    by_scales = _present(node, index)
    if (by_sizes and by_scales) or not (by_sizes is not False or by_scales is not False):
        shown = {"sizes": by_sizes or None, "scales": by_scales or None}
        raise invalid(node.operator, "it needs one of both", **shown)
    # An input of a number of elements that is not known is the one that is empty.
    if by_sizes or (by_sizes is None and not by_scales):
        return _sized(node, data, axes)
    known = operands.held(node, index)
    if known is not None:
        return _scaled(node, data, axes, [float(scale) for scale in known.flat])
    return _scaled_at_run_time(node, data, axes, operands.required(node, index, "scales"))


def _scaled(
    node: Node, data: Expr, axes: Sequence[int], scales: list[float]
) -> tuple[list[PrimExpr], Any]:
    if len(scales) != len(axes) or not all(scale > 0 for scale in scales):
        why = f"there must be {len(axes)} numbers greater than 0"
        raise invalid(node.operator, why, scales=scales)
    dims = tvm_api.shape_of(data)
    return [
        _multiplied(dims[axis], scale) for axis, scale in zip(axes, scales, strict=True)
    ], scales


def _multiplied(dim: PrimExpr, scale: float) -> PrimExpr:
    """``dim * scale``, a product of float32, rounded down."""
    known = tvm_api.as_int(dim)
    if known is not None:
        return tvm_api.integer(int(np.floor(np.float32(scale) * np.float32(known))))
    factor = Fraction(scale)
    short = factor.limit_denominator(1 << 12)
    if np.float32(float(short)) == np.float32(scale):
        # Such as 7/10 for the nearest float32, whose product with 10 rounds to 7.
        factor = short
    return tvm_api.floordiv(dim * tvm_api.integer(factor.numerator), factor.denominator)


def _scaled_at_run_time(
    node: Node, data: Expr, axes: Sequence[int], scales: Expr
) -> tuple[list[PrimExpr], Any]:
    scales = node.builder.match_cast(
        scales, tvm_api.tensor_type([len(axes)], tvm_api.dtype_of(scales))
    )

    def compute(dims: list[PrimExpr], factors: Tensor) -> Tensor:
        def element(indices: Sequence[PrimExpr]) -> PrimExpr:
            product = factors[indices[0]].astype("float32") * _one_of(dims, indices[0])
            return tirx.floor(product).astype("int64")

        return filled((tvm_api.integer(len(axes)),), element, "sizes")

    dims = [tvm_api.shape_of(data)[axis] for axis in axes]
    sizes = computed(node, compute, dims, scales)
    return operands.at_run_time(node, "size", sizes, len(axes)), scales


def _one_of(dims: Sequence[PrimExpr], at: PrimExpr) -> PrimExpr:
    """The dimension number ``at``, as float32."""
    result = dims[-1].astype("float32")
    for number_, dim in reversed(list(enumerate(dims[:-1]))):
        result = tirx.Select(at == tvm_api.integer(number_), dim.astype("float32"), result)
    return result


def _sized(node: Node, data: Expr, axes: Sequence[int]) -> tuple[list[PrimExpr], Any]:
    places = operands.sizes(node, 3, "sizes", len(axes))
    policy = operands.choice(node, "keep_aspect_ratio_policy", "stretch", _POLICIES)
    if policy == "stretch":
        return places, None
    dims = [tvm_api.shape_of(data)[axis] for axis in axes]

    def ratios(old: list[PrimExpr], new: list[PrimExpr]) -> PrimExpr:
        quotients = [number(after) / number(before) for before, after in zip(old, new, strict=True)]
        result = quotients[0]
        for quotient in quotients[1:]:
            limit = tirx.min if policy == "not_larger" else tirx.max
            result = limit(result, quotient)
        return result

    def scale(old: list[PrimExpr], new: list[PrimExpr]) -> Tensor:
        return filled((tvm_api.integer(len(axes)),), lambda indices: ratios(old, new), "scales")

    def size(old: list[PrimExpr], new: list[PrimExpr]) -> Tensor:
        def element(indices: Sequence[PrimExpr]) -> PrimExpr:
            product = ratios(old, new) * _one_of(old, indices[0]).astype(kernels.INNER)
            return tirx.floor(product + number(0.5)).astype("int64")

        return filled((tvm_api.integer(len(axes)),), element, "sizes")

    known = [tvm_api.as_int(dim) for dim in (*dims, *places)]
    if None not in known:
        old, new = np.split(np.array(known, np.float64), 2)
        factor = float((new / old).min() if policy == "not_larger" else (new / old).max())
        rounded = np.floor(factor * old + 0.5).astype(np.int64)
        return [tvm_api.integer(int(value)) for value in rounded], [factor] * len(axes)
    scales = computed(node, scale, dims, places)
    sizes = computed(node, size, dims, places)
    return operands.at_run_time(node, "size", sizes, len(axes)), scales
