"""Reshape, Flatten, Squeeze and Unsqueeze, against ONNX Runtime."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from relaxcheck.fixes import tvm_api
from tests.fixes import onnx_texts
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_texts import agrees, floats, integers

RESHAPED = "f (float[n, 3, 4] x, int64[RANK] s) => (float[unknown] y) { y = Reshape (x, s) }"


def reshaped(rank: int, **sizes: int) -> str:
    """A model that reshapes to ``rank`` dimensions, with a result of any shape."""
    dims = ", ".join(f"p{axis}" for axis in range(rank))
    return RESHAPED.replace("RANK", str(rank)).replace("unknown", dims)


@pytest.mark.parametrize(
    "shape", [[-1], [0, -1], [0, 12], [-1, 0, 2, 2], [0, 0, 2, -1, 1], [3, -1]]
)
@pytest.mark.parametrize("held", [True, False])
def test_reshape(shape: list[int], held: bool, fixes_on: None) -> None:
    text = reshaped(len(shape))
    feeds: list[list[Any]] = [[floats(size, 3, 4), integers(*shape)] for size in (3, 1)]
    if held:
        text = text.replace(f", int64[{len(shape)}] s)", ")").replace(
            "{ y", f"<int64[{len(shape)}] s = {{{', '.join(map(str, shape))}}}> {{ y"
        )
        feeds = [feed[:1] for feed in feeds]
    agrees(text, *feeds)


def test_a_zero_that_copies_nothing(fixes_on: None) -> None:
    text = """f (float[2, 0, 3] x) => (float[p, q] y) <int64[2] s = {0, 5}> {
        y = Reshape <allowzero = 1> (x, s)
    }"""
    agrees(text, [floats(2, 0, 3)], expected=lambda x: floats(0, 5))
    with pytest.raises(ValueError, match=r"Reshape is invalid with shape=\[2, 5\]"):
        onnx_texts.imported(onnx_texts.model_of(text.replace("<allowzero = 1>", "")))


@pytest.mark.parametrize("shape", [[-1, -1], [5, 5], [-2, 6], [1, 3, 4, 0]])
def test_invalid_shapes_are_refused(shape: list[int], fixes_on: None) -> None:
    numbers = ", ".join(map(str, shape))
    held = f"<int64[{len(shape)}] s = {{{numbers}}}>"
    text = f"f (float[1, 3, 4] x) => (float[p] y) {held} {{ y = Reshape (x, s) }}"
    with pytest.raises(ValueError, match="Reshape is invalid with shape="):
        onnx_texts.imported(onnx_texts.model_of(text))


def test_a_shape_of_unknown_length_is_refused(fixes_on: None) -> None:
    text = "f (float[2] x, int64[n] s) => (float[p] y) { y = Reshape (x, s) }"
    with pytest.raises(tvm_api.OpNotImplemented, match="Reshape cannot be lowered with shape="):
        onnx_texts.imported(onnx_texts.model_of(text))


@pytest.mark.parametrize("axis", [-3, -1, 0, 1, 2, 3])
@pytest.mark.parametrize("sizes", [(2, 3, 4), (2, 0, 4)])
def test_flatten(axis: int, sizes: Sequence[int], fixes_on: None) -> None:
    text = f"f (float[n, {sizes[1]}, 4] x) => (float[p, q] y) {{ y = Flatten <axis = {axis}> (x) }}"
    agrees(text, [floats(*sizes)], [floats(1, *sizes[1:])])


def test_an_axis_that_is_none_is_refused(fixes_on: None) -> None:
    text = "f (float[2, 3] x) => (float[p, q] y) { y = Flatten <axis = 3> (x) }"
    with pytest.raises(ValueError, match=r"Flatten is invalid with axis=3"):
        onnx_texts.imported(onnx_texts.model_of(text))


@pytest.mark.parametrize(("opset", "axes"), [(11, "0, -1"), (13, "0, -1"), (13, "2"), (11, "")])
def test_squeeze(opset: int, axes: str, fixes_on: None) -> None:
    node = (
        "Squeeze (x, a)"
        if opset > 11
        else f"Squeeze <axes = [{axes}]> (x)"
        if axes
        else "Squeeze (x)"
    )
    size = "n" if axes else "3"
    held = f"<int64[{axes.count(',') + 1}] a = {{{axes}}}>" if opset > 11 else ""
    rank = 3 - (axes.count(",") + 1 if axes else 2)
    dims = ", ".join(f"p{axis}" for axis in range(rank))
    text = f"f (float[1, {size}, 1] x) => (float[{dims}] y) {held} {{ y = {node} }}"
    agrees(text, [floats(1, 3, 1)], opset=opset)


def test_squeeze_by_axes_at_run_time(fixes_on: None) -> None:
    text = """f (float[1, n, 1, m] x, int32[2] a) => (float[p, q] y) {
        b = Cast <to = 7> (a)
        y = Squeeze (x, b)
    }"""
    agrees(
        text,
        *([floats(1, 3, 1, 2), np.array(pair, "int32")] for pair in ([0, 2], [-2, -4], [2, 0])),
        [floats(1, 3, 1, 1), np.array([3, 2], "int32")],
    )


def test_squeeze_of_unknown_sizes_is_refused(fixes_on: None) -> None:
    text = "f (float[1, n] x) => (float[p] y) { y = Squeeze (x) }"
    with pytest.raises(tvm_api.OpNotImplemented, match="Squeeze cannot be lowered with axes=None"):
        onnx_texts.imported(onnx_texts.model_of(text))


def test_squeeze_of_a_larger_axis_is_refused(fixes_on: None) -> None:
    text = "f (float[1, 2] x) => (float[p] y) <int64[1] a = {1}> { y = Squeeze (x, a) }"
    with pytest.raises(ValueError, match=r"Squeeze is invalid with axes=\[1\]"):
        onnx_texts.imported(onnx_texts.model_of(text))


@pytest.mark.parametrize("axes", ["0", "-1, 1", "2, 0"])
def test_unsqueeze(axes: str, fixes_on: None) -> None:
    count = axes.count(",") + 1
    dims = ", ".join(f"p{axis}" for axis in range(2 + count))
    head = f"f (float[n, 3] x) => (float[{dims}] y)"
    agrees(f"{head} {{ y = Unsqueeze <axes = [{axes}]> (x) }}", [floats(2, 3)], opset=11)
    agrees(f"{head} <int64[{count}] a = {{{axes}}}> {{ y = Unsqueeze (x, a) }}", [floats(2, 3)])
    text = f"f (float[n, 3] x, int64[{count}] a) => (float[{dims}] y) {{ y = Unsqueeze (x, a) }}"
    agrees(text, [floats(2, 3), integers(*map(int, axes.split(",")))])


def test_axes_named_twice_are_refused(fixes_on: None) -> None:
    text = "f (float[2] x) => (float[p, q, r] y) <int64[2] a = {0, -3}> { y = Unsqueeze (x, a) }"
    with pytest.raises(ValueError, match=r"Unsqueeze is invalid with axes=\[0, -3\]"):
        onnx_texts.imported(onnx_texts.model_of(text))


PROGRAMS: whole.Programs = {
    "onnx_reshape": {
        "Reshape at run time": (
            whole.upstream("onnx_reshape", "a_shape_at_run_time"),
            partial(agrees, reshaped(2), [floats(2, 3, 4), integers(0, -1)]),
        ),
        "Flatten of no elements": (whole.upstream("onnx_reshape", "flatten_without_elements"),),
    },
}

CURES: whole.Cures = {"onnx-reshape-of-a-size": (("onnx_reshape", "Reshape at run time"),)}
