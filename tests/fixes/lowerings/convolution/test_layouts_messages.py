"""The error messages of invalid layouts and of positions outside a layout."""

import re

import pytest

from relaxcheck.fixes.lowerings.convolution import layouts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NCHWc", "'NCHWc' cannot be read from 'c' on"),
        ("4cNCHW-2w", "'4cNCHW-2w' cannot be read from '-2w' on"),
        ("ncHW", "'ncHW' cannot be read from 'ncHW' on"),
        ("NCHW4", "'NCHW4' cannot be read from '4' on"),
        ("NCHW0c", "the factor of 'c' in 'NCHW0c' is not positive"),
        ("NCH", "'NCH' must have each of the axes N, C, H, W once"),
        ("NCHWW", "'NCHWW' must have each of the axes N, C, H, W once"),
        ("NCHX", "'NCHX' must have each of the axes N, C, H, W once"),
        ("NCHW2c4c", "'NCHW2c4c' splits an axis twice, or one that it does not have"),
        ("NCHW2k", "'NCHW2k' splits an axis twice, or one that it does not have"),
    ],
)
def test_messages(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        layouts.parse(text, "NCHW")


def test_a_layout_keeps_its_text_and_its_axes() -> None:
    layout = layouts.parse("HN1c16wCW", "NCHW")
    assert layout.text == "HN1c16wCW"
    assert layout.axes == (("H", 0), ("N", 0), ("C", 1), ("W", 16), ("C", 0), ("W", 0))
    assert [layout.factor(letter) for letter in "NCHWX"] == [1, 1, 1, 16, 1]


def test_every_axis_may_be_split() -> None:
    layout = layouts.parse("2n3cNC", "NC")
    assert layout.extents((2, 3, 5, 7)) == {"N": 10, "C": 21}


@pytest.mark.parametrize("numbers", [(1, 2, 3, 4), (1, 2, 3, 4, 0, 0)])
def test_there_is_one_number_for_each_axis(numbers: tuple[int, ...]) -> None:
    layout = layouts.parse("NCHW4c", "NCHW")
    with pytest.raises(ValueError, match="zip"):
        layout.logical(numbers)
    with pytest.raises(ValueError, match="zip"):
        layout.extents(numbers)
