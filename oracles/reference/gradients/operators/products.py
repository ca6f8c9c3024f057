"""The reference's gradients of matrix products and of convolution over two axes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import integer
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.gradients.rules import Call, gradient
from relaxcheck.oracles.reference.operators.movement import moved
from relaxcheck.oracles.reference.operators.windows import Window, window_of

Partials = Sequence[Estimate | None]


@gradient("matmul")
def _matmul(call: Call) -> Partials:
    """Vectors are matrices of one row or column. The result may be of a wider dtype."""
    a, b = call.operands
    of_result = bounds.cast(call.gradient, a.dtype)
    row, column = a.value.ndim == 1, b.value.ndim == 1
    left = moved(a, lambda each: each[None, :]) if row else a
    right = moved(b, lambda each: each[:, None]) if column else b
    if column:
        of_result = moved(of_result, lambda each: each[..., None])
    if row:
        of_result = moved(of_result, lambda each: np.expand_dims(each, -2))
    shares = (
        (_matmul_onto(left, of_result, _turned(right)), a),
        (_matmul_onto(right, _turned(left), of_result), b),
    )
    return [_reshaped(share, own) for share, own in shares]


def _matmul_onto(like: Estimate, a: Estimate, b: Estimate) -> Estimate:
    """``a @ b`` added up over the batches along which ``like`` is repeated: one sum, in any order.

    Two sums one after the other may each be exact where terms in another order are not.
    """
    shape = like.value.shape

    def contract(x: Array, y: Array) -> Array:
        whole = np.matmul(x, y)
        more = whole.ndim - len(shape)
        repeated = [
            axis
            for axis, size in enumerate(whole.shape[:-2])
            if axis < more or (shape[axis - more] == 1 and size != 1)
        ]
        added: Array = whole.sum(axis=tuple(repeated), keepdims=True)
        return added.reshape(shape)

    return bounds.sum_of_products(a, b, contract, a.dtype)


def _turned(matrix: Estimate) -> Estimate:
    return moved(matrix, lambda each: np.swapaxes(each, -1, -2))


def _reshaped(value: Estimate, like: Estimate) -> Estimate:
    return moved(value, lambda each: each.reshape(like.value.shape))


@gradient("nn.conv2d")
def _conv2d(call: Call) -> Partials:
    """Each product of the convolution, with the gradient in place of one of its factors."""
    data, kernel = call.operands
    groups = integer(call.node, "groups", 1)
    window = window_of(call.node, 2, kernel.value.shape[2:])
    n, _, *spatial = data.value.shape
    wide, inner = kernel.value.shape[:2]
    places = window.places(tuple(spatial))
    apart = (n, groups, wide // groups, *places)

    def of_data(g: Array, w: Array) -> Array:
        sizes = [
            size + before + after
            for size, before, after in zip(spatial, window.before, window.after, strict=True)
        ]
        result = np.zeros((n, groups, inner, *sizes), np.result_type(g, w))
        weights = w.reshape(groups, wide // groups, inner, *window.size)
        for tap in np.ndindex(*window.size):
            at: Any = (..., *_under(window, tap, places))
            share = np.einsum("ngohw,goi->ngihw", g.reshape(apart), weights[(..., *tap)])
            result[at] += share
        kept = [slice(b, b + size) for b, size in zip(window.before, spatial, strict=True)]
        inside: Any = (..., *kept)
        whole: Array = result[inside].reshape(n, groups * inner, *spatial)
        return whole

    def of_kernel(g: Array, x: Array) -> Array:
        result = np.zeros((groups, wide // groups, inner, *window.size), np.result_type(g, x))
        for tap, elements in window.taps(x.reshape(n, groups, inner, *spatial)):
            share = np.einsum("ngohw,ngihw->goi", g.reshape(apart), elements)
            place: Any = (..., *tap)
            result[place] = share
        return result.reshape(kernel.value.shape)

    return [
        bounds.sum_of_products(call.gradient, kernel, of_data, call.dtype),
        bounds.sum_of_products(call.gradient, data, of_kernel, call.dtype),
    ]


def _under(window: Window, tap: tuple[int, ...], places: Sequence[int]) -> list[slice]:
    """The elements of the padded data that ``tap`` meets."""
    return [
        slice(k * d, k * d + (count - 1) * s + 1, s)
        for k, d, count, s in zip(tap, window.dilation, places, window.strides, strict=True)
    ]
