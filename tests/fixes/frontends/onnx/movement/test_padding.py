"""Pad, against ONNX Runtime."""

import numpy as np
import pytest

from relaxcheck.fixes import tvm_api
from tests.fixes import onnx_texts
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_texts import agrees, floats, integers

MODES = ("constant", "edge", "reflect", "wrap")
AMOUNTS = [[1, 2, 0, 1], [0, 0, 3, 0], [-1, 2, 1, -1], [0, -2, 0, 0]]


def padded(mode: str, kind: str = "float") -> str:
    return f"""f ({kind}[n, 3] x, int64[4] pads) => ({kind}[p, q] y) {{
        y = Pad <mode = "{mode}"> (x, pads)
    }}"""


def in_numpy(mode: str, data: np.ndarray, amounts: list[int]) -> np.ndarray:
    """Amounts below 0 cut elements off first."""
    before, after = amounts[:2], amounts[2:]
    cut = tuple(
        slice(max(0, -first), size - max(0, -last))
        for first, last, size in zip(before, after, data.shape, strict=True)
    )
    wide = [(max(0, a), max(0, b)) for a, b in zip(before, after, strict=True)]
    return np.pad(data[cut], wide, mode=mode)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("held", [True, False])
def test_modes_and_amounts(mode: str, held: bool, fixes_on: None) -> None:
    data = floats(4, 3) + 1
    for amounts in AMOUNTS:
        text, feeds = padded(mode), [data, integers(*amounts)]
        if held:
            text = text.replace(", int64[4] pads)", ")").replace(
                ") {", f") <int64[4] pads = {{{', '.join(map(str, amounts))}}}> {{"
            )
            feeds = feeds[:1]
        agrees(
            text,
            feeds,
            opset=19,
            expected=lambda *_, amounts=amounts: in_numpy(mode, data, amounts),
        )


@pytest.mark.parametrize("mode", MODES[:3])
def test_as_onnxruntime_does(mode: str, fixes_on: None) -> None:
    agrees(padded(mode), *([floats(4, 3), integers(*amounts)] for amounts in AMOUNTS[:2]))


@pytest.mark.parametrize("mode", ["reflect", "wrap"])
def test_more_than_there_is(mode: str, fixes_on: None) -> None:
    """The elements repeat as often as needed."""
    data = floats(2, 3)
    amounts = [5, 7, 4, 8]
    agrees(
        padded(mode),
        [data, integers(*amounts)],
        opset=19,
        expected=lambda *_: in_numpy(mode, data, amounts),
    )


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("bool", "bool"), ("int8", "int8"), ("uint64", "uint64"), ("double", "f8"), ("float16", "f2")],
)
def test_dtypes(kind: str, dtype: str, fixes_on: None) -> None:
    data = np.array([[1, 0, 1]]).astype(dtype)
    text = padded("constant", kind)
    feeds = [data, integers(1, 0, 0, 2)]
    agrees(text, feeds, expected=lambda *_: np.pad(data, [(1, 0), (0, 2)]))


@pytest.mark.parametrize("shape", ["", "[1]"])
@pytest.mark.parametrize("held", [True, False])
def test_a_value(shape: str, held: bool, fixes_on: None) -> None:
    value = np.full(() if not shape else 1, 2.5, "float32")
    text = f"""f (float[n] x, float{shape} v) => (float[p] y) <int64[2] pads = {{1, 2}}> {{
        y = Pad (x, pads, v)
    }}"""
    feeds = [floats(3), value]
    if held:
        number = "{2.5}"
        text = text.replace(f", float{shape} v)", ")")
        text = text.replace("<int64", f"<float{shape} v = {number}, int64")
        feeds = feeds[:1]
    agrees(text, feeds, expected=lambda *_: np.pad(floats(3), (1, 2), constant_values=2.5))


def test_attributes_of_old(fixes_on: None) -> None:
    text = "f (float[n] x) => (float[p] y) { y = Pad <pads = [1, 2], value = 2.5> (x) }"
    agrees(text, [floats(3)], opset=2, expected=lambda x: np.pad(x, (1, 2), constant_values=2.5))


def test_axes(fixes_on: None) -> None:
    text = """f (float[n, 3, 2] x, float v) => (float[p, q, r] y)
        <int64[4] pads = {1, 0, 2, -1}, int64[2] axes = {-1, 0}>
    { y = Pad (x, pads, v, axes) }"""
    agrees(text, [floats(4, 3, 2), np.array(7, "float32")])
    text = """f (float[n, 3, 2] x, int64[2] pads, float v, int32[1] axes) => (float[p, q, r] y)
    { y = Pad (x, pads, v, axes) }"""
    agrees(
        text,
        *(
            [floats(4, 3, 2), integers(2, 1), np.array(7, "float32"), np.array([axis], "int32")]
            for axis in (0, 1, -1)
        ),
    )


@pytest.mark.parametrize("sizes", [(4, 3), (2, 7), (5, 5), (0, 1), (9, 2)])
@pytest.mark.parametrize("held", [True, False])
def test_centers(sizes: tuple[int, int], held: bool, fixes_on: None) -> None:
    """An odd element is at the end."""
    data = floats(5, 4) + 1
    expected = np.zeros(sizes, "float32")
    cut, grown = zip(
        *(_centered(*pair) for pair in zip(data.shape, sizes, strict=True)), strict=True
    )
    expected[grown] = data[cut]
    text = """f (float[n, 4] x, int64[2] s) => (float[p, q] y) {
        y = CenterCropPad (x, s)
    }"""
    feeds = [data, integers(*sizes)]
    if held:
        numbers = ", ".join(map(str, sizes))
        text = text.replace(", int64[2] s)", ")").replace(
            ") {", f") <int64[2] s = {{{numbers}}}> {{"
        )
        feeds = feeds[:1]
    agrees(text, feeds, expected=lambda *_: expected)


def _centered(have: int, size: int) -> tuple[slice, slice]:
    """The places that are taken of ``have``, and those of ``size`` that get them."""
    more = abs(have - size) // 2
    inner, outer = slice(more, more + min(have, size)), slice(0, min(have, size))
    return (inner, outer) if have > size else (outer, inner)


def test_centers_of_some_axes(fixes_on: None) -> None:
    text = """f (float[n, 4, 3] x) => (float[n, p, q] y) <int64[2] s = {5, 2}> {
        y = CenterCropPad <axes = [-1, 1]> (x, s)
    }"""
    data = floats(2, 4, 3)
    expected = np.pad(data[:, 1:3], [(0, 0), (0, 0), (1, 1)])
    agrees(text, [data], expected=lambda x: expected)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ('Pad <mode = "around"> (x, pads)', r"cannot be lowered with mode='around'"),
        ("Pad (x, three)", r"invalid with pads=\[1, 2, 3\]"),
        ("Pad (x, pads, v, axes)", r"invalid with axis=1"),
    ],
)
def test_refusals(node: str, message: str, fixes_on: None) -> None:
    text = f"""f (float[2] x) => (float[p] y)
        <int64[2] pads = {{1, 1}}, int64[3] three = {{1, 2, 3}}, float v = {{0}},
         int64[1] axes = {{1}}>
    {{ y = {node} }}"""
    with pytest.raises((ValueError, tvm_api.OpNotImplemented), match=f"Pad .*{message}"):
        onnx_texts.imported(onnx_texts.model_of(text))


PROGRAMS: whole.Programs = {
    "onnx_pad": {
        "amounts at run time": (whole.upstream("onnx_pad", "amounts_at_run_time"),),
        "axes at run time": (whole.upstream("onnx_pad", "axes_at_run_time"),),
        "CenterCropPad": (whole.upstream("onnx_pad", "center_crop_pad"),),
    },
}
