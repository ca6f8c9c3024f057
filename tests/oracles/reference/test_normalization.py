"""Normalizations: the three agree within bounds that are not vacuous."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.program import Case, Node, Program
from relaxcheck.generators.core.values import Array, arrays
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.operators import normalization
from tests.oracles.agreeing import agree_on, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

FLOATS = ("float16", "bfloat16", "float32", "float64")

Calls = list[tuple[list[tuple[int, ...]], dict[str, Any]]]

CALLS: dict[str, Calls] = {
    "nn.layer_norm": [
        ([(2, 3, 8), (8,), (8,)], {"axes": (-1,)}),
        ([(2, 3, 4), (3, 4), (3, 4)], {"axes": (1, 2), "epsilon": 1e-3}),
        ([(4, 1), (1,), (1,)], {"axes": (1,)}),
        ([(0, 4), (4,), (4,)], {"axes": (1,)}),
    ],
    "nn.rms_norm": [
        ([(2, 3, 8), (8,)], {"axes": (-1,)}),
        ([(2, 3, 4), (3, 4)], {"axes": (1, 2), "epsilon": 1e-3}),
        ([(1, 1), (1,)], {}),
        ([(0, 4), (4,)], {"axes": (1,)}),
    ],
    "nn.group_norm": [
        ([(2, 4, 5), (4,), (4,)], {"num_groups": 2, "channel_axis": 1, "axes": (2,)}),
        ([(1, 4, 1, 3), (4,), (4,)], {"num_groups": 1, "channel_axis": 1, "axes": (2, 3)}),
        ([(0, 4, 2), (4,), (4,)], {"num_groups": 4, "channel_axis": 1, "axes": (2,)}),
    ],
    "nn.instance_norm": [
        ([(2, 3, 5), (3,), (3,)], {"channel_axis": 1, "axes": (2,)}),
        ([(2, 3, 2, 2), (3,), (3,)], {"channel_axis": 1, "axes": (2, 3), "epsilon": 0.1}),
        ([(2, 3, 1), (3,), (3,)], {"channel_axis": 1, "axes": (2,)}),
    ],
    "nn.batch_norm": [
        ([(4, 3, 5), *[(3,)] * 4], {"axis": 1, "item": item, "training": training})
        for item in (0, 1, 2)
        for training in (True, False)
    ]
    + [
        ([(4, 5, 3), *[(3,)] * 4], {"axis": 2, "momentum": 0.3, "item": 2}),
        ([(1, 3), *[(3,)] * 4], {"axis": 1, "item": 0}),
        ([(0, 3), *[(3,)] * 4], {"axis": 1, "item": 0, "training": False}),
    ],
}
EACH = [(name, at) for name, calls in CALLS.items() for at in range(len(calls))]


def _values(program: Program, regime: str) -> dict[str, Array]:
    values = arrays(Case("drawn", program, regime=regime), 0)
    if "x4" in values:
        # A variance is not negative.
        values["x4"] = np.abs(values["x4"])
    return values


@pytest.mark.parametrize(("operator", "at"), EACH)
def test_all_agree(operator: str, at: int) -> None:
    shapes, attributes = CALLS[operator][at]
    for dtype in FLOATS:
        for regime in ("normal", "exact", "moderate", "boundary", "special"):
            program = program_of(operator, shapes, dtype, **attributes)
            reference = agree_on(program, _values(program, regime))
            if regime == "normal" and dtype in ("float32", "float64"):
                wrong_is_seen(reference)


@pytest.mark.parametrize("operator", ["nn.layer_norm", "nn.group_norm"])
def test_a_bound_of_a_tensor_off_its_mean_grows_with_what_cancels(operator: str) -> None:
    shapes, attributes = CALLS[operator][0]
    program = program_of(operator, shapes, "float32", **attributes)
    values = _values(program, "normal")
    near = agree_on(program, values)
    far = agree_on(program, {**values, "x0": values["x0"] + np.float32(64)})
    assert near.bound.max() < 1e-4
    assert np.isfinite(far.bound).all()
    assert far.bound.max() > near.bound.max()


def test_every_operator_of_the_group_is_held_here() -> None:
    assert CALLS.keys() == declared_in(normalization)


def test_a_bias_that_is_off_moves_the_result_by_as_much() -> None:
    def of(value: float, error: float = 0.0) -> Estimate:
        return Estimate(np.array([value], np.longdouble), np.array([error]), "float32")

    parts = of(2), None, of(4), 0.0, of(1)
    exact, moved = (normalization._normalized(*parts, of(3, error)) for error in (0.0, 1.0))
    assert exact.value.item() == moved.value.item() == 4
    assert exact.error.item() < 1e-4
    assert 1 <= moved.error.item() < 1.0001


def test_a_layer_without_center_or_scale_is_refused() -> None:
    assert normalization._plain(Node("y", "nn.layer_norm", (), {"epsilon": 0.5})) == 0.5
    for name in ("center", "scale"):
        assert normalization._plain(Node("y", "nn.layer_norm", (), {name: True})) == 1e-5
        with pytest.raises(ValueError, match="without center or scale"):
            normalization._plain(Node("y", "nn.layer_norm", (), {name: False}))
