"""Gradients of pooling: the windows one after the other, each to the elements under it."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    flag,
    one_dtype,
    operator,
    refuse,
)
from tests.measure.quality.control.operators.windows import Slide, divided, pooled
from tests.measure.quality.control.rounding import computed_in
from tests.measure.quality.control.summation import Freedom

_RANK = 2

Place = tuple[int, int]


def _slides(node: Node, operands: Sequence[Type]) -> tuple[Slide, ...]:
    gradient, data = operands
    one_dtype(node, operands, FLOATS)
    layout, slides = pooled(node, data, _RANK)
    if layout != "NCHW":
        raise NotImplementedError(f"{node.operator} in {layout}")
    wanted = (*data.shape[:2], *(slide.places for slide in slides))
    if gradient.shape != wanted:
        raise refuse(node, f"the gradient has the shape {gradient.shape}, not {wanted} (ndim)")
    return slides


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    _slides(node, operands)
    return operands[1]


def _windows(slides: Sequence[Slide]) -> Iterator[tuple[Place, list[Place]]]:
    """Each window, and the elements of the data under it."""
    for window in np.ndindex(*(slide.places for slide in slides)):
        lines = [
            [at * slide.stride + tap * slide.dilation - slide.before for tap in range(slide.taps)]
            for at, slide in zip(window, slides, strict=True)
        ]
        high, wide = (
            [at for at in line if 0 <= at < slide.size]
            for line, slide in zip(lines, slides, strict=True)
        )
        yield (window[0], window[1]), [(row, column) for row in high for column in wide]


Spread = Callable[[Array, Array, Place, list[Place]], None]
"""``spread(result, gradients, window, elements)`` adds what a window gives to its elements."""


def _backward(node: Node, operands: Sequence[Array], freedom: Freedom, spread: Spread) -> Array:
    gradient, data = operands
    slides = _slides(node, [Type(each.shape, each.dtype.name) for each in operands])
    listed = list(_windows(slides))
    order = freedom.permutation(len(listed))

    def collected(each: Array) -> Array:
        result = np.zeros(data.shape, each.dtype)
        for number in order:
            window, elements = listed[number]
            spread(result, each[(..., *window)], window, elements)
        return result

    return computed_in(data.dtype, freedom, gradient, compute=collected)


@operator("grad.max_pool2d_backward", _infer)
def _max_pool2d_backward(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    """Of equal elements the first or the last of a window is drawn."""
    data = operands[1]
    last = freedom.choice(("first", "last")) == "last"

    def spread(result: Array, each: Array, window: Place, elements: list[Place]) -> None:
        if not elements:
            return
        ordered = elements[::-1] if last else elements
        values = np.stack([data[(..., *at)] for at in ordered])
        largest = np.argmax(values, axis=0)
        for plane in np.ndindex(data.shape[:2]):
            result[(*plane, *ordered[int(largest[plane])])] += each[plane]

    return _backward(node, operands, freedom, spread)


@operator("grad.avg_pool2d_backward", _infer)
def _avg_pool2d_backward(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    types = [Type(each.shape, each.dtype.name) for each in operands]
    taps = int(np.prod([slide.taps for slide in _slides(node, types)]))
    everything = flag(node, "count_include_pad", False)

    def spread(result: Array, each: Array, window: Place, elements: list[Place]) -> None:
        count = np.array(taps if everything else len(elements))
        share = divided(each, count, freedom)
        for at in elements:
            result[(..., *at)] += share

    return _backward(node, operands, freedom, spread)
