"""Operators that choose elements by their values or places."""

import numpy as np
import pytest

from tests.fixes import onnx_texts
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_texts import agrees, floats, integers


def hot(indices: np.ndarray, depth: int, values: np.ndarray, axis: int) -> np.ndarray:
    """OneHot by its definition."""
    places = np.where(indices < 0, indices + depth, indices).astype(np.int64)
    hits = np.expand_dims(places, axis) == np.arange(depth).reshape(
        [-1 if at == axis % (indices.ndim + 1) else 1 for at in range(indices.ndim + 1)]
    )
    return np.where(hits, values[1], values[0])


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize(
    ("kind", "dtype"), [("int64", "i8"), ("int32", "i4"), ("uint8", "u1"), ("float", "f4")]
)
def test_one_hot(axis: int, kind: str, dtype: str, fixes_on: None) -> None:
    indices = np.array([[1, 0, 7], [2, 3, 1]]).astype(dtype)
    if dtype[0] != "u":
        indices[0, 0] = -4
    values = np.array([0.5, 2])
    text = f"""f ({kind}[n, 3] i, int64[1] depth, double[2] v) => (double[p, q, r] y) {{
        y = OneHot <axis = {axis}> (i, depth, v)
    }}"""
    feeds = [indices, integers(4), values]
    agrees(text, feeds, expected=lambda *_: hot(indices, 4, values, axis))
    held = text.replace("int64[1] depth, double[2] v", "int64[1] unused").replace(
        ") {", ") <double[2] v = {0.5, 2}, float depth = {4}> {"
    )
    agrees(held, feeds[:2], expected=lambda *_: hot(indices, 4, values, axis))


def test_a_symbolic_depth(fixes_on: None) -> None:
    text = """f (int64[m] i, float[n] like, bool[2] v) => (bool[m, n] y) {
        shape = Shape (like)
        y = OneHot (i, shape, v)
    }"""
    indices, values = integers(0, 2, -1), np.array([False, True])
    agrees(
        text,
        *([indices, floats(depth), values] for depth in (3, 5)),
        expected=lambda i, like, v: hot(i, like.size, v, -1),
    )


@pytest.mark.parametrize(("kind", "dtype"), [("float", "f4"), ("bool", "?"), ("int32", "i4")])
def test_non_zero(kind: str, dtype: str, fixes_on: None) -> None:
    text = f"f ({kind}[n, 2] x) => (int64[2, p] y) {{ y = NonZero (x) }}"
    agrees(text, [np.array([[1, 0], [0, 1]]).astype(dtype)], [np.zeros((1, 2)).astype(dtype)])
    text = f"f ({kind} x) => (int64[0, p] y) {{ y = NonZero (x) }}"
    for value in (0, 1):
        array = np.array(value).astype(dtype)
        agrees(text, [array], expected=lambda x: np.zeros((0, int(x != 0)), "int64"))


@pytest.mark.parametrize("sizes", [(0,), (0, 3), (2, 0), (2, 0, 3)])
def test_non_zero_of_no_elements(sizes: tuple[int, ...], fixes_on: None) -> None:
    dims = ", ".join(map(str, sizes))
    expected = np.zeros((len(sizes), 0), np.int64)
    for text in (
        f"f (float[{dims}] x) => (int64[r, p] y) {{ y = NonZero (x) }}",
        f"f (float[1] unused) => (int64[r, p] y) <float[{dims}] x = {{}}> {{ y = NonZero (x) }}",
    ):
        feed = floats(1) if "unused" in text else floats(*sizes)
        agrees(text, [feed], expected=lambda _: expected)


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("k", [-3, -1, 0, 2, 5])
def test_trilu(upper: int, k: int, fixes_on: None) -> None:
    head = "f (float[n, 3, m] x, int64 k) => (float[n, 3, m] y)"
    text = f"{head} {{ y = Trilu <upper = {upper}> (x, k) }}"
    data = floats(2, 3, 4) + 1
    agrees(text, [data, np.array(k)], [data[..., :0], np.array(k)])
    held = text.replace(", int64 k)", ")").replace(") {", f") <int64 k = {{{k}}}> {{")
    agrees(held, [data])


def test_no_diagonal_is_the_main_one(fixes_on: None) -> None:
    agrees("f (bool[2, 2] x) => (bool[2, 2] y) { y = Trilu (x) }", [np.ones((2, 2), "?")])


def test_a_vector_has_no_triangle(fixes_on: None) -> None:
    model = onnx_texts.model_of("f (float[2] x) => (float[2] y) { y = Trilu (x) }")
    with pytest.raises(ValueError, match="Trilu is invalid with input="):
        onnx_texts.imported(model)


def scattered(data: np.ndarray, indices: np.ndarray, updates: np.ndarray, axis: int) -> np.ndarray:
    """Scatter by its definition."""
    result = data.copy()
    for place in np.ndindex(*indices.shape):
        at = list(place)
        at[axis] = int(indices[place])
        result[tuple(at)] = updates[place]
    return result


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("sizes", ["2, 2", "m, 2", "n, 3"])
def test_scatter(axis: int, sizes: str, fixes_on: None) -> None:
    shape = (3, 3) if "3" in sizes else (2, 2)
    indices = np.stack([np.roll(np.arange(3), row)[: shape[1]] for row in range(shape[0])])
    indices = indices if axis else np.ascontiguousarray(indices.T[: shape[0]])
    indices[0, 0] -= 3
    text = f"""f (float[n, 3] x, int64[{sizes}] i, float[{sizes}] u) => (float[n, 3] y) {{
        y = Scatter <axis = {axis}> (x, i, u)
    }}"""
    feeds = [floats(3, 3), indices.astype("int64"), floats(*shape) + 50]
    agrees(text, feeds, opset=9, expected=lambda *_: scattered(*feeds, axis % 2))


def test_scatter_of_nothing(fixes_on: None) -> None:
    text = "f (float[3] x, int32[0] i, float[0] u) => (float[3] y) { y = Scatter (x, i, u) }"
    agrees(text, [floats(3), np.zeros(0, "i4"), floats(0)], opset=9, expected=lambda *_: floats(3))


PROGRAMS: whole.Programs = {
    "onnx_choosing": {
        "values of OneHot": (whole.upstream("onnx_choosing", "one_hot"),),
        "NonZero of a scalar": (whole.upstream("onnx_choosing", "non_zero_of_a_scalar"),),
        "NonZero of no elements": (
            whole.upstream("onnx_choosing", "non_zero_of_an_empty_initializer"),
        ),
    },
}

CURES: whole.Cures = {
    "onnx-one-hot-dtype": (("onnx_choosing", "values of OneHot"),),
}
