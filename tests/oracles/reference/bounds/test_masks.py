"""Masks against examples written by hand; the first four are those of TVM's operator."""

import numpy as np
import pytest

from relaxcheck.oracles.reference.masks import Mask, visible, visible_within


def _rows(mask: Mask) -> list[str]:
    return ["".join("1" if seen else "0" for seen in row) for row in mask]


@pytest.mark.parametrize(
    ("queries", "keys", "causal_mask", "window_size", "rows"),
    [
        (4, 2, "TopLeft", None, ["10", "11", "11", "11"]),
        (4, 2, "BottomRight", None, ["11", "11", "11", "11"]),
        (2, 4, "TopLeft", None, ["1000", "1100"]),
        (2, 4, "BottomRight", None, ["1110", "1111"]),
        (3, 3, None, None, ["111", "111", "111"]),
        (4, 4, "TopLeft", 2, ["1000", "1100", "0110", "0011"]),
        (2, 4, "BottomRight", 2, ["0110", "0011"]),
        (2, 4, "BottomRight", 1, ["0010", "0001"]),
        (4, 2, "BottomRight", 2, ["01", "00", "00", "00"]),
        (4, 4, None, 2, ["1111", "1111", "0111", "0011"]),
        (5, 2, None, 1, ["11", "01", "00", "00", "00"]),
        (2, 0, "TopLeft", None, ["", ""]),
    ],
)
def test_visible(
    queries: int, keys: int, causal_mask: str | None, window_size: int | None, rows: list[str]
) -> None:
    assert _rows(visible(queries, keys, causal_mask, window_size)) == rows


def test_a_sequence_sees_only_itself_and_is_masked_by_its_own_lengths() -> None:
    mask = visible_within(np.array([0, 1, 3]), np.array([0, 2, 5]), 3, 5, "BottomRight")
    assert _rows(mask) == ["11000", "00110", "00111"]


def test_queries_beyond_the_last_sequence_see_nothing() -> None:
    assert _rows(visible_within(np.array([0, 1]), np.array([0, 1]), 2, 2)) == ["10", "00"]


def test_a_sequence_may_be_empty_and_may_end_before_the_tensor_does() -> None:
    mask = visible_within(np.array([0, 0, 2]), np.array([0, 2, 3]), 2, 3)
    assert _rows(mask) == ["001", "001"]
    assert _rows(visible_within(np.array([1, 2]), np.array([0, 1]), 3, 2)) == ["00", "10", "00"]
    assert _rows(visible_within(np.array([0]), np.array([0]), 1, 2)) == ["00"]


@pytest.mark.parametrize(
    ("starts_q", "starts_k", "message"),
    [
        ([-1, 2], [0, 3], "seqstart_q does not increase within 0..2"),
        ([0, 3], [0, 3], "seqstart_q does not increase within 0..2"),
        ([0, 2, 1], [0, 1, 3], "seqstart_q does not increase within 0..2"),
        ([0, 1, 2], [0, 3, 2], "seqstart_k does not increase within 0..3"),
        ([0, 2], [0, 4], "seqstart_k does not increase within 0..3"),
        ([[0, 2]], [[0, 3]], "seqstart_q and seqstart_k must be vectors"),
        ([], [], "must be vectors of the same length >= 1"),
    ],
)
def test_bounds_of_sequences_lie_in_order_within_the_tensor(
    starts_q: list[int], starts_k: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        visible_within(np.array(starts_q, np.int64), np.array(starts_k, np.int64), 2, 3)


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="causal_mask"):
        visible(2, 2, "BottomLeft")
    with pytest.raises(ValueError, match="window_size 0"):
        visible(2, 2, None, 0)
    with pytest.raises(ValueError, match="seqstart_k"):
        visible_within(np.array([0, 2]), np.array([0, 3]), 2, 2)
    with pytest.raises(ValueError, match="same length"):
        visible_within(np.array([0, 2]), np.array([0, 1, 2]), 2, 2)
