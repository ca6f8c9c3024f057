"""Slice and Split, against ONNX Runtime."""

from collections.abc import Sequence

import pytest

from relaxcheck.fixes import tvm_api
from tests.fixes import onnx_texts
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_texts import agrees, floats, integers

FAR = 2**63 - 1

BOUNDS = [
    ([0], [2], [1], [1]),
    ([-3], [FAR], [0], [2]),
    ([FAR], [-FAR - 1], [1], [-1]),
    ([-1], [-100], [-2], [-2]),
    ([3], [1], [0], [1]),
    ([100], [0], [0], [-3]),
    ([-100], [-200], [0], [-1]),
    ([1, -2], [4, FAR], [1, 0], [1, 1]),
    ([0, 5], [FAR, 0], [0, 1], [2, -2]),
]
"""Starts, ends, axes and steps."""


def held(**vectors: Sequence[int]) -> str:
    """Initializers."""
    texts = (
        f"int64[{len(v)}] {name} = {{{', '.join(map(str, v))}}}" for name, v in vectors.items()
    )
    return f"<{', '.join(texts)}>"


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("size", ["n", "5"])
def test_slice(bounds: tuple[list[int], ...], size: str, fixes_on: None) -> None:
    s, e, a, d = bounds
    feeds = [[floats(5, 4)]] if size == "5" else [[floats(rows, 4)] for rows in (1, 2, 5)]
    head = f"f (float[{size}, 4] x) => (float[p, q] y)"
    agrees(f"{head} {held(s=s, e=e, a=a, d=d)} {{ y = Slice (x, s, e, a, d) }}", *feeds)


@pytest.mark.parametrize("count", [1, 2])
def test_slice_at_run_time(count: int, fixes_on: None) -> None:
    vectors = ", ".join(f"int64[{count}] {name}" for name in "sead")
    text = f"""f (float[n, 4] x, {vectors}) => (float[p, q] y) {{
        z = Slice (x, s, e, a, d)
        y = Neg (z)
    }}"""
    agrees(
        text,
        *(
            [floats(rows, 4), *(integers(*vector) for vector in bounds)]
            for bounds in BOUNDS
            if len(bounds[0]) == count
            for rows in (1, 5)
        ),
    )


def test_axes_that_are_known_keep_the_others(fixes_on: None) -> None:
    text = f"""f (float[n, 4] x, int64[1] s, int64[1] e) => (float[n, q] y) {held(a=[1])} {{
        z = Slice (x, s, e, a)
        y = Neg (z)
    }}"""
    agrees(text, [floats(3, 4), integers(1), integers(-1)])


def test_attributes_of_old(fixes_on: None) -> None:
    text = """f (float[n, 4] x) => (float[p, q] y) {
        y = Slice <starts = [1, -2], ends = [9, 4]AXES> (x)
    }"""
    for axes in ("", ", axes = [1, 0]"):
        agrees(text.replace("AXES", axes), [floats(5, 4)], opset=9)


def test_an_end_that_is_symbolic(fixes_on: None) -> None:
    text = f"""f (float[n, 4] x, float[m] like) => (float[p, 4] y) {held(s=[0], a=[0])} {{
        e = Shape (like)
        y = Slice (x, s, e, a)
    }}"""
    agrees(text, *([floats(rows, 4), floats(end)] for rows, end in ((5, 3), (2, 4), (3, 0))))


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ({"s": [0], "e": [1], "a": [2], "d": [1]}, r"invalid with axis=2"),
        ({"s": [0, 1], "e": [1, 1], "a": [0, 0], "d": [1, 1]}, r"invalid with axes=\[0, 0\]"),
        ({"s": [0, 1], "e": [1], "a": [0], "d": [1]}, r"invalid with starts=\[0, 1\], ends=\[1\]"),
        ({"s": [0], "e": [1], "a": [0], "d": [0]}, r"invalid with steps=\[0\]"),
    ],
)
def test_what_is_no_slice_is_refused(
    vectors: dict[str, list[int]], message: str, fixes_on: None
) -> None:
    text = f"f (float[2, 3] x) => (float[p, q] y) {held(**vectors)} {{ y = Slice (x, s, e, a, d) }}"
    with pytest.raises((ValueError, tvm_api.OpNotImplemented), match=f"Slice .*{message}"):
        onnx_texts.imported(onnx_texts.model_of(text))


@pytest.mark.parametrize("size", ["n", "5", "6"])
def test_split_into_a_number_of_parts(size: str, fixes_on: None) -> None:
    text = f"""f (float[2, {size}] x) => (float[2, p] a, float[2, q] b, float[2, r] c) {{
        a, b, c = Split <axis = -1, num_outputs = 3> (x)
    }}"""
    feeds = [[floats(2, columns)] for columns in ((5, 6, 7) if size == "n" else (int(size),))]
    agrees(text, *feeds)


@pytest.mark.parametrize("opset", [11, 13])
def test_split_into_equal_parts(opset: int, fixes_on: None) -> None:
    text = "f (float[n, 2] x) => (float[p, 2] a, float[q, 2] b) { a, b = Split (x) }"
    agrees(text, [floats(4, 2)], [floats(2, 2)], opset=opset)


def test_split_into_sizes(fixes_on: None) -> None:
    head = "f (float[n, 5] x) => (float[n, p] a, float[n, q] b)"
    agrees(f"{head} {{ a, b = Split <axis = 1, split = [2, 3]> (x) }}", [floats(2, 5)], opset=11)
    agrees(f"{head} {held(s=[4, 1])} {{ a, b = Split <axis = 1> (x, s) }}", [floats(2, 5)])
    head = "f (float[n, 5] x, int64[2] s) => (float[n, p] a, float[n, q] b)"
    feeds = [[floats(2, 5), integers(*pair)] for pair in ((2, 3), (0, 5), (5, 0))]
    agrees(f"{head} {{ c, d = Split <axis = 1> (x, s) a = Neg (c) b = Neg (d) }}", *feeds)


def test_a_single_part(fixes_on: None) -> None:
    agrees("f (float[3] x) => (float[3] y) { y = Split <num_outputs = 1> (x) }", [floats(3)])


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("Split (x, s)", r"split=\[2, 2\]: axis 0 has 5 places"),
        ("Split <num_outputs = 3> (x)", r"num_outputs=3: the node has 2 outputs"),
        ("Split <axis = 1> (x)", r"axis=1: the rank is 1"),
    ],
)
def test_what_is_no_split_is_refused(node: str, message: str, fixes_on: None) -> None:
    text = f"f (float[5] x) => (float[p] a, float[q] b) {held(s=[2, 2])} {{ a, b = {node} }}"
    with pytest.raises(ValueError, match=f"Split is invalid with {message}"):
        onnx_texts.imported(onnx_texts.model_of(text))


PROGRAMS: whole.Programs = {
    "onnx_slice": {
        "Slice without axes": (whole.upstream("onnx_slice", "slice_without_axes"),),
        "Slice from before the first place": (
            whole.upstream("onnx_slice", "slice_from_before_the_first_place"),
        ),
        "Split at run time": (whole.upstream("onnx_slice", "split_at_run_time"),),
    },
}

CURES: whole.Cures = {
    "onnx-slice-of-opset-9": (("onnx_slice", "Slice without axes"),),
    "onnx-slice-from-before": (("onnx_slice", "Slice from before the first place"),),
}
