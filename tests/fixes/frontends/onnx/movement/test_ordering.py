"""Operators that put elements in another order."""

import numpy as np
import pytest

from tests.fixes import onnx_texts
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_texts import agrees, floats, integers


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_blocks_there_and_back(mode: str, size: int, fixes_on: None) -> None:
    square = size * size
    text = f"""f (float[n, {2 * square}, h, 2] x) => (float[n, p, q, r] y) {{
        y = DepthToSpace <blocksize = {size}, mode = "{mode}"> (x)
    }}"""
    images = floats(2, 2 * square, 3, 2)
    agrees(text, [images], [images[:0]], [images[:, :, :0]])
    back = f"""f (float[n, {2 * square}, h, 2] x) => (float[n, {2 * square}, h, 2] z) {{
        y = DepthToSpace <blocksize = {size}, mode = "{mode}"> (x)
        z = SpaceToDepth <blocksize = {size}, mode = "{mode}"> (y)
    }}"""
    agrees(back, [images], opset=28, expected=lambda x: x)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("DepthToSpace <blocksize = 2> (x)", "blocksize=2: 4 does not divide 6"),
        ("SpaceToDepth <blocksize = 2> (x)", "blocksize=2: 2 does not divide 3"),
        ("SpaceToDepth <blocksize = 0> (x)", "blocksize=0"),
        ('DepthToSpace <blocksize = 1, mode = "RCD"> (x)', "mode='RCD'"),
    ],
)
def test_invalid_blocks(node: str, message: str, fixes_on: None) -> None:
    text = f"f (float[1, 6, 3, 2] x) => (float[p, q, r, s] y) {{ y = {node} }}"
    with pytest.raises(ValueError, match=f"is invalid with {message}"):
        onnx_texts.imported(onnx_texts.model_of(text))


@pytest.mark.parametrize("axes", ["", "<batch_axis = 0, time_axis = 1>"])
@pytest.mark.parametrize(("kind", "dtype"), [("float", "f4"), ("int64", "i8")])
def test_reverse_sequence(axes: str, kind: str, dtype: str, fixes_on: None) -> None:
    text = f"""f ({kind}[n, m, 2] x, int64[k] l) => ({kind}[n, m, 2] y) {{
        y = ReverseSequence {axes} (x, l)
    }}"""
    data = floats(3, 3, 2).astype(dtype)
    agrees(text, *([data, integers(*lengths)] for lengths in ((3, 1, 2), (1, 1, 1))))


def written(past: np.ndarray, update: np.ndarray, begins: list[int], circular: bool) -> np.ndarray:
    """TensorScatter along axis 1 by its definition."""
    result = past.copy()
    for batch, begin in enumerate(begins):
        for at in range(update.shape[1]):
            place = begin + at
            result[batch, place % past.shape[1] if circular else place] = update[batch, at]
    return result


@pytest.mark.parametrize(("mode", "begins"), [("linear", [0, 2]), ("circular", [3, 2])])
def test_tensor_scatter(mode: str, begins: list[int], fixes_on: None) -> None:
    text = f"""f (float[n, 4, 2] x, float[n, m, 2] u, int64[n] i) => (float[n, 4, 2] y) {{
        y = TensorScatter <mode = "{mode}"> (x, u, i)
    }}"""
    past, update = floats(2, 4, 2), floats(2, 2, 2) + 50
    agrees(
        text,
        [past, update, integers(*begins)],
        opset=24,
        expected=lambda x, u, i: written(x, u, begins, mode == "circular"),
    )


def test_a_cache_from_the_begin(fixes_on: None) -> None:
    text = """f (float[2, 2, 4] x, float[2, 2, 1] u) => (float[2, 2, 4] y) {
        y = TensorScatter <axis = -1> (x, u)
    }"""
    past, update = floats(2, 2, 4), floats(2, 2, 1) + 50
    expected = np.concatenate([update, past[..., 1:]], -1)
    agrees(text, [past, update], opset=24, expected=lambda *_: expected)


PROGRAMS: whole.Programs = {
    "onnx_ordering": {
        "mode of SpaceToDepth": (whole.upstream("onnx_ordering", "space_to_depth"),),
        "ReverseSequence": (whole.upstream("onnx_ordering", "reverse_sequence"),),
        "TensorScatter": (whole.upstream("onnx_ordering", "tensor_scatter"),),
    },
}
