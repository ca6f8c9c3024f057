"""The reference's gradients of pooling over two axes."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.limitations import attribute, not_default
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import flag
from relaxcheck.oracles.reference.averages import ONE, shared
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import Estimate, ordinary, unknown
from relaxcheck.oracles.reference.evaluation import limit, operator, same_dtype
from relaxcheck.oracles.reference.operators.windows import Window, pool_window

for _kind in ("max", "avg"):
    _name = f"grad.{_kind}_pool2d_backward"
    limit(_name, not_default("layout", "NCHW"), "layout is not NCHW")
    limit(_name, not_default("out_layout", "NCHW"), "out_layout is not NCHW")
    limit(_name, attribute("ceil_mode", True), "frameworks differ in ceil_mode")


def _checked(node: Node, operands: list[Estimate]) -> Window:
    """The window.

    Raises:
        ValueError: the gradient has another shape than the result of the pooling, or dtypes differ.
    """
    gradient, data = operands
    same_dtype(node, operands)
    window = pool_window(2, node)
    if data.value.ndim != 4:
        raise ValueError(f"{node.operator}: data of {data.value.ndim} dimensions")
    wanted = (*data.value.shape[:2], *window.places(data.value.shape[2:]))
    if gradient.value.shape != wanted:
        raise ValueError(f"a gradient of shape {gradient.value.shape}, not {wanted}")
    return window


def _scattered(window: Window, spatial: tuple[int, ...], taps: Iterator[Array]) -> Array:
    """Sums at the elements of the data, of ``taps``: for each tap an array over the windows."""
    first, *rest = taps
    sizes = [
        n + before + after
        for n, before, after in zip(spatial, window.before, window.after, strict=True)
    ]
    wide = np.zeros((*first.shape[:-2], *sizes), first.dtype)
    for tap, values in zip(product(*map(range, window.size)), (first, *rest), strict=True):
        under: list[Any] = [
            slice(k * d, k * d + (n - 1) * s + 1, s)
            for k, d, n, s in zip(
                tap, window.dilation, values.shape[-2:], window.strides, strict=True
            )
        ]
        at: Any = (..., *under)
        wide[at] += values
    kept = [slice(b, b + n) for b, n in zip(window.before, spatial, strict=True)]
    inner: Any = (..., *kept)
    result: Array = wide[inner]
    return result


@operator("grad.max_pool2d_backward")
def _max_pool2d_backward(node: Node, operands: list[Estimate]) -> Estimate:
    """Elements that equal the largest of a window with another one are unconstrained."""
    gradient, data = operands
    window = _checked(node, operands)
    spatial = data.value.shape[2:]
    x = ordinary(data)
    lows, highs, wild = (
        [elements for _, elements in window.taps(each, -np.inf)]
        for each in (x.value - x.error, x.value + x.error, np.where(unknown(data), 1.0, 0.0))
    )
    # Padding is below every element, and no element of a tap.
    inside = [each > -np.inf for each in lows]
    doubtful = np.logical_or.reduce([each > 0 for each in wild])
    top = np.maximum.reduce(lows)
    may = [(high >= top) & there for high, there in zip(highs, inside, strict=True)]
    count = np.add.reduce([each.astype(np.int64) for each in may])
    open_places = doubtful | (count > 1)
    chosen = [each & ~open_places for each in may]
    touched = [
        (each & open_places) | (doubtful & there) for each, there in zip(may, inside, strict=True)
    ]

    def collected(a: Array, b: Array) -> Array:
        terms = a * b
        none = np.zeros((), terms.dtype)
        return _scattered(window, spatial, (np.where(each, terms, none) for each in chosen))

    result = bounds.sum_of_products(gradient, ONE, collected, gradient.dtype)
    counts = _scattered(window, spatial, (each.astype(np.int64) for each in touched))
    return unconstrain(result, counts > 0)


@operator("grad.avg_pool2d_backward")
def _avg_pool2d_backward(node: Node, operands: list[Estimate]) -> Estimate:
    gradient, data = operands
    window = _checked(node, operands)
    spatial = data.value.shape[2:]
    held = np.add.reduce([each for _, each in window.taps(np.ones(spatial, np.int64))])
    if flag(node, "count_include_pad", False):
        held = np.full_like(held, int(np.prod(window.size)))
    if (held == 0).any():
        raise ValueError(f"{node.operator}: a window holds nothing but padding")
    each = shared(gradient, held)
    # Infinities and NaN are divided as they are.
    wild = ~np.isfinite(gradient.value)
    kept = np.where(wild, gradient.value, each.value)
    each = replace(each, value=kept, error=np.where(wild, gradient.error, each.error))
    taps = int(np.prod(window.size))

    def collected(a: Array, b: Array) -> Array:
        return _scattered(window, spatial, iter([a * b] * taps))

    return bounds.sum_of_products(each, ONE, collected, gradient.dtype)
