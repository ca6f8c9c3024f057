"""Operators that repeat or make elements, against ONNX Runtime."""

from functools import partial

import numpy as np
import pytest

from relaxcheck.fixes import tvm_api
from tests.fixes import onnx_texts
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_texts import agrees, floats, integers

EXPANDED = "f (float[n, 1, 3] x, int64[RANK] s) => (float[DIMS] y) { y = Expand (x, s) }"


@pytest.mark.parametrize("shape", [[1], [4, 1], [2, 1, 1], [3, 1, 1, 3], [0, 1]])
@pytest.mark.parametrize("held", [True, False])
def test_expand(shape: list[int], held: bool, fixes_on: None) -> None:
    rank, count = max(3, len(shape)), len(shape)
    text = EXPANDED.replace("RANK", str(count))
    text = text.replace("DIMS", ", ".join(f"p{axis}" for axis in range(rank)))
    feeds = [[floats(size, 1, 3), integers(*shape)] for size in (2, 1)]
    if held:
        text = text.replace(f", int64[{count}] s)", ")").replace(
            "{ y", f"<int64[{count}] s = {{{', '.join(map(str, shape))}}}> {{ y"
        )
        feeds = [feed[:1] for feed in feeds]
    agrees(text, *(feed for feed in feeds if len(shape) != 3 or feed[0].shape[0] in (1, 2)))


def test_two_symbolic_sizes_broadcast(fixes_on: None) -> None:
    text = "f (float[n] x, float[m] like) => (float[p] y) { s = Shape (like) y = Expand (x, s) }"
    agrees(text, *([floats(a), floats(b)] for a, b in ((1, 3), (3, 1), (3, 3), (1, 0), (0, 1))))


def test_sizes_that_do_not_broadcast_are_refused(fixes_on: None) -> None:
    text = "f (float[2] x) => (float[p] y) <int64[1] s = {3}> { y = Expand (x, s) }"
    with pytest.raises(ValueError, match=r"Expand is invalid with shape=3: 2 and 3"):
        onnx_texts.imported(onnx_texts.model_of(text))


@pytest.mark.parametrize("dtype", ["float", "bool", "int8", "uint16", "double", "float16"])
def test_tile(dtype: str, fixes_on: None) -> None:
    array = np.array([[1, 0], [2, 3], [0, 1]]).astype(
        {"float": "f4", "double": "f8"}.get(dtype, dtype)
    )
    text = f"f ({dtype}[n, 2] x, int64[2] r) => ({dtype}[p, q] y) {{ y = Tile (x, r) }}"
    agrees(text, *([array, integers(*pair)] for pair in ((2, 1), (1, 3), (0, 2))))
    held = text.replace(", int64[2] r)", ")").replace("{ y", "<int64[2] r = {2, 3}> { y")
    agrees(held, [array], [array[:0]])


def test_repeats_of_another_number_are_refused(fixes_on: None) -> None:
    text = "f (float[2] x) => (float[p] y) <int64[2] r = {1, 2}> { y = Tile (x, r) }"
    with pytest.raises(ValueError, match=r"Tile is invalid with repeats=\[1, 2\]"):
        onnx_texts.imported(onnx_texts.model_of(text))


@pytest.mark.parametrize("value", ["", "<value = float[1] {2.5}>", "<value = int32[1] {-3}>"])
def test_constant_of_shape(value: str, fixes_on: None) -> None:
    kind = "int32" if "int32" in value else "float"
    text = f"f (int64[2] s) => ({kind}[p, q] y) {{ y = ConstantOfShape {value} (s) }}"
    agrees(text, [integers(2, 3)], [integers(0, 3)], [integers(1, 1)])
    agrees(f"f () => ({kind} y) <int64[0] s = {{}}> {{ y = ConstantOfShape {value} (s) }}")
    text = (
        f"f (float[n, 3] x) => ({kind}[p, q] y) {{ s = Shape (x) y = ConstantOfShape {value} (s) }}"
    )
    agrees(text, [floats(2, 3)], [floats(0, 3)])


@pytest.mark.parametrize("k", [-1, 0, 2])
@pytest.mark.parametrize(("number", "dtype"), [(1, "float"), (7, "int64"), (11, "double")])
def test_eye_like(k: int, number: int, dtype: str, fixes_on: None) -> None:
    text = (
        f"f (int32[n, 3] x) => ({dtype}[n, 3] y) {{ y = EyeLike <dtype = {number}, k = {k}> (x) }}"
    )
    agrees(text, [np.zeros((2, 3), "int32")], [np.zeros((4, 3), "int32")])


@pytest.mark.parametrize(("start", "step"), [(0, 1), (1, 2), (-2, 3)])
def test_range_to_a_symbolic_size(start: int, step: int, fixes_on: None) -> None:
    text = f"""f (float[n] x) => (int64[p] y)
        <int64 i = {{0}}, int64 start = {{{start}}}, int64 step = {{{step}}}>
    {{
        shape = Shape (x)
        size = Gather (shape, i)
        numbers = Range (start, size, step)
        y = Add (numbers, numbers)
    }}"""
    agrees(text, *([floats(size)] for size in (0, 1, 5)))


@pytest.mark.parametrize(
    ("kind", "dtype"), [("int64", "i8"), ("int32", "i4"), ("int16", "i2"), ("float", "f4")]
)
def test_range_at_run_time(kind: str, dtype: str, fixes_on: None) -> None:
    text = f"f ({kind} s, {kind} l, {kind} d) => ({kind}[p] y) {{ y = Range (s, l, d) }}"
    bounds = [(0, 5, 1), (3, -4, -2), (1, 1, 1), (5, 0, 1), (-2, 8, 3)]
    agrees(text, *([np.array(each, dtype) for each in triple] for triple in bounds))
    constants = f"<{kind} s = {{1}}, {kind} d = {{2}}>"
    held = f"f ({kind} l) => ({kind}[p] y) {constants} {{ y = Range (s, l, d) }}"
    agrees(held, *([np.array(limit, dtype)] for limit in (0, 2, 7)))


def test_a_range_of_the_size_of_the_data(fixes_on: None) -> None:
    """Their sizes are the same symbol, so they add up."""
    text = """f (float[n] x) => (float[n] y) <int64 i = {0}, int64 o = {1}> {
        shape = Shape (x)
        size = Gather (shape, i)
        numbers = Range (i, size, o)
        reals = Cast <to = 1> (numbers)
        y = Mul (x, reals)
    }"""
    agrees(text, [floats(3)], [floats(1)])
    module = onnx_texts.imported(onnx_texts.model_of(text))
    assert tvm_api.show(tvm_api.shape_of(module["main"].params[0])) == "(n)"


PROGRAMS: whole.Programs = {
    "onnx_expand": {
        "Expand at run time": (
            whole.upstream("onnx_expand", "expand_at_run_time"),
            partial(
                agrees,
                EXPANDED.replace("RANK", "1").replace("DIMS", "p, q, r"),
                [floats(2, 1, 3), integers(1)],
            ),
        ),
        "ConstantOfShape at run time": (
            whole.upstream("onnx_expand", "constant_of_shape_at_run_time"),
        ),
        "EyeLike of another dtype": (whole.upstream("onnx_expand", "eye_like_of_another_dtype"),),
    },
}

CURED_BY_EXPAND = (
    "onnx-expand-symbolic-by-numbers",
    "onnx-gather-by-a-range-fused",
    "onnx-range-of-a-size",
    "onnx-tile-by-a-size",
)

CURES: whole.Cures = dict.fromkeys(CURED_BY_EXPAND, (("onnx_expand", "Expand at run time"),))
