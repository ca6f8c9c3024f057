"""Tensors made of numbers: one element after the other."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    Array,
    Type,
    axis_of,
    flag,
    number,
    operator,
    refuse,
    text,
    whole,
)
from tests.measure.quality.control.rounding import faithful
from tests.measure.quality.control.summation import WIDER, Freedom


def _ends(node: Node) -> list[Any]:
    """Start, end and step."""
    values = [node.attributes.get(name) for name in ("start", "end", "step")]
    start, end, step = (each[0] if isinstance(each, tuple) else each for each in values)
    step = 1 if step is None else step
    if step == 0:
        raise refuse(node, "step is 0")
    return [0, start, step] if end is None else [start, end, step]


def _places(node: Node) -> list[Any]:
    at, end, step = _ends(node)
    places = []
    while at < end if step > 0 else at > end:
        places.append(at)
        at += step
    return places


def _infer_arange(node: Node, operands: Sequence[Type]) -> Type:
    plain = "int64" if all(isinstance(each, int) for each in _ends(node)) else "float32"
    return Type((len(_places(node)),), text(node, "dtype", plain))


@operator("arange", _infer_arange)
def _arange(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return np.array(_places(node), _infer_arange(node, ()).dtype)


def _infer_window(node: Node, operands: Sequence[Type]) -> Type:
    return Type((whole(node, "window_size"),), text(node, "dtype", "float32"))


@operator("hamming_window", _infer_window)
def _hamming_window(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    """Every step rounded to the dtype, or to a wider one."""
    size, dtype = whole(node, "window_size"), text(node, "dtype", "float32")
    if size == 1:
        return np.ones(1, dtype)
    kind = np.dtype(dtype if freedom.choice(("own", "wide")) == "own" else WIDER[dtype])
    span = size if flag(node, "periodic", True) else size - 1
    angle = np.arange(size).astype(kind) * kind.type(2 * np.pi) / kind.type(span)
    cosine = faithful(np.cos(angle.astype(np.longdouble)), kind, freedom)
    alpha, beta = (kind.type(number(node, name)) for name in ("alpha", "beta"))
    return (alpha - beta * cosine).astype(dtype)


def _infer_one_hot(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    depth, at = whole(node, "depth"), axis_of(node, x.rank + 1, default=-1)
    if depth < 0:
        raise refuse(node, f"depth is {depth}")
    dtype = "float64" if isinstance(node.attributes["on_value"], float) else "int64"
    return Type((*x.shape[:at], depth, *x.shape[at:]), dtype)


@operator("one_hot", _infer_one_hot)
def _one_hot(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    to = _infer_one_hot(node, [Type(x.shape, x.dtype.name)])
    at = axis_of(node, x.ndim + 1, default=-1)
    result = np.full(to.shape, node.attributes["off_value"], to.dtype)
    for place in np.ndindex(x.shape):
        result[(*place[:at], int(x[place]), *place[at:])] = node.attributes["on_value"]
    return result
