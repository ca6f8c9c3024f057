import numpy as np
import pytest

from relaxcheck.oracles.reference.layouts import from_canonical, packing, to_canonical, unpacking


def test_permuted() -> None:
    array = np.arange(24).reshape(2, 3, 4)
    assert np.array_equal(to_canonical(array, "WNC", "NCW"), array.transpose(1, 2, 0))


def test_packed_channel_is_outer_times_factor_plus_inner() -> None:
    packed = np.arange(2 * 3 * 5 * 4).reshape(2, 3, 5, 4)
    canonical = to_canonical(packed, "NCW4c", "NCW")
    assert canonical.shape == (2, 12, 5)
    assert canonical[1, 2 * 4 + 3, 4] == packed[1, 2, 4, 3]


def test_a_kernel_split_on_both_channels() -> None:
    kernel = np.arange(8 * 4 * 3).reshape(8, 4, 3)
    packed = from_canonical(kernel, "OWI2o4i", "IOW")
    assert packed.shape == (2, 3, 2, 2, 4)
    assert packed[1, 2, 1, 0, 3] == kernel[1 * 4 + 3, 1 * 2 + 0, 2]
    assert np.array_equal(to_canonical(packed, "OWI2o4i", "IOW"), kernel)


@pytest.mark.parametrize(
    ("layout", "fault"),
    [
        ("NCX", "'X' is not an axis"),
        ("NCWW", "'W' is repeated"),
        ("NW", "no axis 'C'"),
        ("NW4c", "no axis 'C'"),
        ("NCW0c", "is zero"),
        ("NCWc", "malformed at 'c'"),
        ("NCW4", "malformed at '4'"),
        ("NCW4x", "'x' is not an axis"),
        ("NCW4c2c", "'c' is repeated"),
    ],
)
def test_bad_layouts_are_refused(layout: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        to_canonical(np.zeros((1, 2, 3)), layout, "NCW")


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="4 does not divide C = 6"):
        from_canonical(np.zeros((1, 6, 3)), "NCW4c", "NCW")
    with pytest.raises(ValueError, match="axis 'c'"):
        to_canonical(np.zeros((1, 6, 3, 2)), "NCW4c", "NCW")
    with pytest.raises(ValueError, match="rank"):
        to_canonical(np.zeros((1, 6, 3, 2)), "NCW", "NCW")


def test_empty_axes_survive() -> None:
    assert to_canonical(np.zeros((0, 2, 3, 4)), "NCW4c", "NCW").shape == (0, 8, 3)


def test_the_steps_between_layouts() -> None:
    # W outermost, then C / 2, N and the inner part of C.
    assert unpacking("WCN2c", "NCW", (5, 3, 7, 2)) == ((2, 1, 3, 0), (7, 6, 5))
    assert packing("WCN2c", "NCW", (7, 6, 5)) == ((7, 3, 2, 5), (3, 1, 0, 2))


def test_messages_name_the_layout_and_the_fault() -> None:
    with pytest.raises(ValueError, match=r"^layout 'NCW2' is malformed at '2'$"):
        unpacking("NCW2", "NCW", (1, 2, 3))
    with pytest.raises(ValueError, match=r"^rank 2 does not match layout 'NCW'$"):
        packing("NWC", "NCW", (1, 2))
    with pytest.raises(ValueError, match=r"^axis 'c' of layout 'NCW4c' has size 2$"):
        unpacking("NCW4c", "NCW", (1, 6, 3, 2))
