import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaxcheck.fixes.lowerings.convolution import layouts
from tests.fixes import reference


@st.composite
def packed(draw: st.DrawFn) -> str:
    text = list(draw(st.permutations("NCHW")))
    for axis in draw(st.lists(st.sampled_from("NCHW"), unique=True, max_size=2)):
        text.insert(draw(st.integers(0, len(text))), f"{draw(st.integers(1, 4))}{axis.lower()}")
    return "".join(text)


@given(packed(), st.data())
def test_storage_inverts_logical(text: str, data: st.DataObject) -> None:
    layout = layouts.parse(text, "NCHW")
    position = [
        data.draw(st.integers(0, (split or 3) - 1), label=axis) for axis, split in layout.axes
    ]
    assert [int(index) for index in layout.storage(layout.logical(position))] == position


@given(packed())
def test_logical_agrees_with_transposing_the_array(text: str) -> None:
    layout = layouts.parse(text, "NCHW")
    shape = [split or 2 for _, split in layout.axes]
    array = np.arange(np.prod(shape)).reshape(shape)
    whole = reference.logical(array, text, "NCHW")
    extents = layout.extents(shape)
    assert whole.shape == tuple(extents[axis] for axis in "NCHW")
    for position in np.ndindex(*shape):
        at = layout.logical(position)
        assert whole[tuple(at[axis] for axis in "NCHW")] == array[position]


@pytest.mark.parametrize(
    "text", ["NC", "NCHWW", "NCHw", "NCHW0c", "NCHW4x", "NCHW2c2c", "NC HW", "NCHWc", "", "NCHW4"]
)
def test_invalid_layouts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="'"):
        layouts.parse(text, "NCHW")
