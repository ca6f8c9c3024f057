"""Outputs of one or two elements, where loops of extent 1 leave the taps alone in the index.

There TVM's FlattenBuffer simplifies an index by ``iter_map_simplify``, which takes ``(3 - k) // 2``
for ``1 + k // -2`` (0.27); the fix counts taps so that no index falls with them.
"""

from itertools import product

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.fixes.test_conv_transpose import run


def extent(axis: tuple[int, ...]) -> int:
    """Elements of the output along an axis: of length, taps, stride, both paddings, dilation."""
    length, taps, stride, begin, end, dilation = axis
    return (length - 1) * stride - begin - end + dilation * (taps - 1) + 1


ALL = tuple(product((1, 2, 3), (1, 2, 3, 4), (1, 2, 3, 4), range(5), range(5), (1, 2, 3)))
ONE, TWO = ([axis for axis in ALL if extent(axis) == wanted] for wanted in (1, 2))

FIRST_SEEN = (2, 2, 2, 3, 0, 1)
NEXT_SEEN = (2, 4, 2, 3, 2, 1)


def compare(*axes: tuple[int, ...]) -> None:
    lengths, taps, strides, begins, ends, dilation = zip(*axes, strict=True)
    data = np.arange(1.0, 1 + np.prod(lengths)).reshape(1, 1, *lengths)
    kernel = np.arange(1.0, 1 + np.prod(taps)).reshape(1, 1, *taps) ** 2
    got, want = run(
        len(axes), data, kernel, strides=strides, padding=begins + ends, dilation=dilation
    )
    np.testing.assert_array_equal(got, want)


@settings(max_examples=40, deadline=None)
@example(FIRST_SEEN)
@example(NEXT_SEEN)
@given(st.sampled_from(ONE + TWO))
def test_few_elements_of_one_axis(axis: tuple[int, ...]) -> None:
    compare(axis)


@settings(max_examples=20, deadline=None)
@example((FIRST_SEEN, NEXT_SEEN))
@given(st.tuples(st.sampled_from(ONE), st.sampled_from(ONE)))
def test_one_element_of_two_axes(axes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    compare(*axes)
