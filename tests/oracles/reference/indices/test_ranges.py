"""Ranges, windows, slices, buckets, medians and quantization: all agree at values from here."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal, Positive, Random
from tests.oracles.agreeing import agree, program_of, wrong_is_seen

FLOATS = ("float16", "bfloat16", "float32", "float64")
INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("attributes", "wanted", "dtype"),
    [
        ({"start": 3}, [0, 1, 2], "int64"),
        ({"start": 2, "end": 7, "step": 2}, [2, 4, 6], "int64"),
        ({"start": 2, "end": -1, "step": -1, "dtype": "float16"}, [2, 1, 0], "float16"),
        ({"start": 0.5, "end": 1.25, "step": 0.25}, [0.5, 0.75, 1.0], "float32"),
    ],
)
def test_ranges(attributes: dict[str, Any], wanted: list[float], dtype: str) -> None:
    result = agree(program_of("arange", [], **attributes))
    assert (result.value.tolist(), result.dtype) == (wanted, dtype)


@pytest.mark.parametrize("dtype", FLOATS[2:])
@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 17, 64])
def test_windows(dtype: str, periodic: bool, size: int) -> None:
    attributes = {"window_size": size, "periodic": periodic, "alpha": 0.54, "beta": 0.46}
    window = agree(program_of("hamming_window", [], **attributes, dtype=dtype))
    wanted = np.hamming(size + periodic)[:size] if size > 1 else [1]
    np.testing.assert_allclose(window.value, wanted, rtol=1e-12)
    wrong_is_seen(window)


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_ones_at_indices(axis: int) -> None:
    fills = [Literal((2, 0))]
    numbers = {"on_value": 0.5, "off_value": -2.0, "depth": 3, "axis": axis}
    hot = agree(program_of("one_hot", [(2,)], "int8", fills, **numbers))
    wanted = np.array([[-2, -2, 0.5], [0.5, -2, -2]])
    assert hot.value.tolist() == (wanted if axis in (1, -1) else wanted.T).tolist()
    whole = agree(program_of("one_hot", [(2,)], "int8", fills, on_value=1, off_value=0, depth=3))
    assert whole.dtype == "int64"


def test_an_index_beyond_the_depth_is_invalid() -> None:
    with pytest.raises(ValueError, match="not below 2"):
        agree(
            program_of("one_hot", [(1,)], "int8", [Literal((2,))], on_value=1, off_value=0, depth=2)
        )


def test_a_slice_is_replaced() -> None:
    fills = [Literal((0, 0, 0, 0, 0)), Literal((7, 8))]
    ends = {"start": 1, "end": 5, "step": 2, "axis": -1}
    written = agree(program_of("slice_scatter", [(5,), (2,)], "int8", fills, **ends))
    assert written.value.tolist() == [0, 7, 0, 8, 0]


def test_the_beginnings_of_sequences_are_reversed() -> None:
    fills = [Literal((1, 2, 3, 4, 5, 6)), Literal((0, 2, 3))]
    shapes, kinds = [(2, 3), (3,)], ("float32", "int64")
    columns = [Literal((1, 2, 3, 4, 5, 6)), Literal((0, 2, 1))]
    turned = agree(
        program_of("reverse_sequence", shapes, kinds, columns, seq_axis=0, batch_axis=-1)
    )
    assert turned.value.tolist() == [[1, 5, 3], [4, 2, 6]]
    rows = agree(program_of("reverse_sequence", [(2, 3), (2,)], kinds, [fills[0], Literal((3, 2))]))
    assert rows.value.tolist() == [[3, 2, 1], [5, 4, 6]]


@pytest.mark.parametrize(("right", "wanted"), [(False, [0, 0, 1, 2]), (True, [0, 1, 1, 2])])
def test_buckets(right: bool, wanted: list[int]) -> None:
    fills = [Literal((-INF, 1, 1.5, INF)), Literal((1, 2))]
    buckets = agree(program_of("bucketize", [(4,), (2,)], "float32", fills, right=right))
    assert (buckets.value.tolist(), buckets.dtype) == (wanted, "int64")
    unknown = program_of("bucketize", [(1,), (2,)], "float32", [Literal((NAN,)), fills[1]])
    assert np.isinf(agree(unknown).bound).all()


MIDDLE = Literal((5, 1, 4, 2, 3, 3, 9, 0))


@pytest.mark.parametrize("keepdims", [False, True])
def test_the_lower_of_two_medians(keepdims: bool) -> None:
    everything = agree(program_of("median", [(2, 4)], "int8", [MIDDLE], keepdims=keepdims))
    assert everything.value.tolist() == ([[3]] if keepdims else 3)
    attributes = {"axis": 1, "keepdims": keepdims}
    values, places = (
        agree(program_of("median", [(2, 4)], "float32", [MIDDLE], **attributes, item=item))
        for item in (0, 1)
    )
    assert values.value.ravel().tolist() == [2, 3]
    assert (places.value.ravel()[0], places.dtype) == (3, "int64")
    assert np.isinf(places.bound).ravel().tolist() == [False, True]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_quotients_round_to_even_and_saturate(dtype: str) -> None:
    fills = [Literal((0.25, 0.75, -1.25, 100, -INF, NAN)), Literal((0.5,)), Literal((1,))]
    kinds = (dtype, dtype, "int8")
    whole = agree(program_of("quantize", [(6,), (1,), (1,)], kinds, fills))
    assert whole.value[:5].tolist() == [1, 3, -1, 127, -128]
    assert np.isinf(whole.bound).tolist() == [False] * 5 + [True]


def test_a_scale_that_is_no_number_constrains_nothing() -> None:
    fills = [Literal((INF, 1, 1)), Literal((INF, NAN, 0.5)), Literal((0, 0, 0))]
    kinds = ("float32", "float32", "int8")
    whole = agree(program_of("quantize", [(3,), (3,), (3,)], kinds, fills, axis=0))
    assert np.isinf(whole.bound).tolist() == [True, True, False]


@pytest.mark.parametrize("to", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("axis", [0, -1])
def test_numbers_for_each_place(to: str, axis: int) -> None:
    shape = (3, 4)
    fills = [Random(), Positive(0.125), Literal((0, 1, 2, 3)[: shape[axis]])]
    shapes = [shape, (shape[axis],), (shape[axis],)]
    for regime in ("normal", "boundary", "special"):
        kinds = ("float32", "float32", to)
        agree(program_of("quantize", shapes, kinds, fills, axis=axis, out_dtype=to), regime)
        kinds = (to, "float32", to)
        back = agree(program_of("dequantize", shapes, kinds, fills, axis=axis), regime)
        if regime == "normal":
            wrong_is_seen(back)


def test_a_zero_point_is_taken_away_before_scaling() -> None:
    fills = [Literal((0, 128, 255)), Literal((0.5,)), Literal((128,))]
    kinds = ("uint8", "float32", "uint8")
    back = agree(program_of("dequantize", [(3,), (), ()], kinds, fills))
    assert back.value.tolist() == [-64, 0, 63.5]
    assert not back.bound.any()
