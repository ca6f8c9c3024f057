"""Places no two of which on a line are the same."""

import msgspec
import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Distinct
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.model import Model, Node, Tensor


def _drawn(
    shape: tuple[int, ...], limit: int, along: int, seed: int, *, negative: bool = True
) -> np.ndarray:
    tensor = Tensor("x", shape, "int64", fill=Distinct(limit, along, negative))
    model = Model(18, (tensor,), (Node("Identity", ("x",), ("y",)),), ("y",))
    return arrays(OnnxCase("onnx-Identity", model, seed=seed), 0)["x"]


@pytest.mark.parametrize("along", [0, 1, 2])
def test_lines_have_no_place_twice(along: int) -> None:
    negative = 0
    for seed in range(20):
        drawn = _drawn((3, 2, 4), 5, along, seed)
        assert drawn.shape == (3, 2, 4)
        assert drawn.min() >= -5
        assert drawn.max() < 5
        lines = np.moveaxis(drawn % 5, along, -1).reshape(-1, drawn.shape[along])
        assert all(len(set(line.tolist())) == len(line) for line in lines)
        negative += int((drawn < 0).sum())
    assert 0.4 < negative / (20 * 24) < 0.6


def test_a_full_line_has_every_place() -> None:
    drawn = _drawn((4,), 4, 0, seed=1)
    assert sorted((drawn % 4).tolist()) == [0, 1, 2, 3]


def test_places_that_do_not_count_back_are_not_negative() -> None:
    drawn = _drawn((4,), 4, 0, seed=1, negative=False)
    assert sorted(drawn.tolist()) == [0, 1, 2, 3]
    assert drawn.tolist() == (_drawn((4,), 4, 0, seed=1) % 4).tolist()


def test_negative_places_are_left_out_of_json() -> None:
    assert b"negative" not in msgspec.json.encode(Distinct(4, 0))
    fill = Distinct(4, 0, negative=False)
    assert msgspec.json.decode(msgspec.json.encode(fill), type=Distinct) == fill


def test_empty_lines_stay_empty() -> None:
    assert _drawn((2, 0), 0, 1, seed=1).shape == (2, 0)
