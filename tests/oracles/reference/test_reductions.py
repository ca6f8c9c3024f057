"""Reductions: the three agree within bounds, over axes of any size that there is a result for."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.program import Case, Node
from relaxcheck.generators.core.values import arrays, numpy_dtype
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.evaluation import OPERATORS, Numerics
from relaxcheck.oracles.reference.operators import reductions
from tests.oracles.agreeing import agree, agree_on, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

FLOATS = ("float16", "bfloat16", "float32", "float64")
SUMS = ("sum", "prod", "mean", "variance", "std", "max", "min")
ALONG = ("argmax", "argmin", "cumsum", "cumprod", "nn.softmax", "nn.log_softmax")
TIGHT = ("sum", "mean", "max", "min", "argmax", "cumsum", "nn.softmax", "nn.log_softmax")


def _attributes(operator: str) -> list[dict[str, Any]]:
    if operator in SUMS:
        axes: list[Any] = [None, 1, (0, 2), (-1,)]
        return [{"axis": axis, "keepdims": keep} for axis in axes for keep in (False, True)]
    if operator.startswith("cum"):
        return [{"axis": 1}, {"axis": -1, "exclusive": True}, {}]
    if operator.startswith("arg"):
        return [{"axis": 1}, {"axis": -1, "keepdims": True}, {"axis": None}]
    return [{"axis": 1}, {}]


@pytest.mark.parametrize("operator", [*SUMS, *ALONG])
def test_over_axes(operator: str) -> None:
    for dtype in FLOATS:
        for attributes in _attributes(operator):
            for shape in ((3, 5, 4), (1, 1, 1)):
                for regime in ("normal", "exact", "moderate", "boundary", "special"):
                    if operator == "cumprod" and attributes.get("axis") is None:
                        continue
                    reference = agree(
                        program_of(operator, [shape], dtype, **attributes), regime, 0, 1
                    )
                    if operator in TIGHT and regime == "normal" and dtype in ("float32", "float64"):
                        wrong_is_seen(reference)


@pytest.mark.parametrize("operator", ["sum", "max", "cumsum", "argmax", "prod"])
def test_of_integers(operator: str) -> None:
    for dtype in ("int32", "int8"):
        for attributes in _attributes(operator):
            wrong_is_seen(agree(program_of(operator, [(3, 5, 4)], dtype, **attributes), "normal"))


@pytest.mark.parametrize("operator", ["sum", "prod"])
def test_integers_wrap_around_beyond_64_bits(operator: str) -> None:
    for dtype in ("int32", "int8", "uint8", "int64"):
        for axis in (1, (0, 2), None):
            agree(program_of(operator, [(5, 7, 6)], dtype, axis=axis), "special", seed=3)


@pytest.mark.parametrize("operator", ["sum", "prod", "cumsum", "nn.softmax"])
def test_over_nothing(operator: str) -> None:
    along = operator in ("cumsum", "nn.softmax")
    for axis in (1, -1) if along else (1, (0, 1), None):
        reference = agree(program_of(operator, [(2, 0, 3)], axis=axis), oracles=2)
        if not along:
            assert (
                reference.value.tolist()
                == np.full(reference.value.shape, operator == "prod").tolist()
            )


@pytest.mark.parametrize("operator", ["max", "argmin"])
def test_there_is_no_largest_of_nothing(operator: str) -> None:
    program = program_of(operator, [(2, 0)], axis=1)
    with pytest.raises(ValueError, match="of no elements"):
        evaluate(program, {"x0": np.zeros((2, 0), np.float32)})


@pytest.mark.parametrize("operator", ["mean", "variance", "std"])
@pytest.mark.parametrize("keep", [False, True])
def test_there_is_room_where_the_sum_of_a_mean_may_overflow(operator: str, keep: bool) -> None:
    """Added up in float16 it is infinite; PyTorch adds it up in float32."""
    program = program_of(operator, [(2, 8)], "float16", axis=(1,), keepdims=keep)
    far = np.array([[-16376.0], [1.0]]) + np.arange(8)
    (mean,) = evaluate(program, {"x0": far.astype("float16")})
    assert np.isinf(mean.bound.ravel()).tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_mean_of_a_power_of_two_is_exact_but_below_the_normal_numbers(dtype: str) -> None:
    """The largest number is no further off; half of an odd subnormal number is rounded."""
    kind = np.finfo(dtype)
    large = np.array([[kind.max], [-kind.max]], dtype)
    mean = agree_on(program_of("mean", [(2, 1)], dtype, axis=1), {"x0": large})
    assert mean.value.tolist() == [float(kind.max), float(-kind.max)]
    assert not mean.bound.any()
    small = np.array([[kind.tiny, kind.tiny + kind.smallest_subnormal]], dtype)
    below = np.array([[kind.smallest_subnormal, 0]], dtype)
    for values in (small, -small, below):
        agree_on(program_of("mean", [(1, 2)], dtype, axis=1), {"x0": values})


def test_sums_of_small_integers_leave_no_room() -> None:
    for operator in ("sum", "max", "cumsum"):
        assert not agree(program_of(operator, [(3, 8)], axis=1), "exact").bound.any()
    assert not agree(program_of("mean", [(3, 8)], axis=1), "exact").bound.any()
    assert agree(program_of("mean", [(3, 7)], axis=1), "exact").bound.any()


@pytest.mark.parametrize("operator", ["variance", "std", "prod", "cumprod"])
def test_bounds_are_not_vacuous(operator: str) -> None:
    attributes = {"axis": 1}
    reference = agree(program_of(operator, [(3, 6)], "float32", **attributes), oracles=1)
    assert (reference.bound <= 1e-4 * np.maximum(1, np.abs(reference.value))).all()


def test_a_dtype_to_sum_in() -> None:
    reference = agree(program_of("cumsum", [(3, 70)], "int8", axis=1, dtype="int32"))
    assert reference.dtype == "int32"
    agree(program_of("cumsum", [(3, 70)], "float16", axis=1, dtype="float32"))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_sums_one_after_the_other_in_the_dtype(dtype: str) -> None:
    program = program_of("variance", [(4, 50)], dtype, axis=1)
    values = arrays(Case("drawn", program, seed=5), 0)
    x, count = values["x0"], numpy_dtype(dtype).type(50)
    mean = (np.add.accumulate(x, 1)[:, -1:] / count).astype(x.dtype)
    squares = ((x - mean) * (x - mean)).astype(x.dtype)
    actual = (np.add.accumulate(squares, 1)[:, -1] / count).astype(x.dtype)
    (reference,) = evaluate(program, values)
    assert (np.abs(actual.astype(np.float64) - reference.value) <= reference.bound).all()


def test_every_operator_of_the_group_is_held_here() -> None:
    assert {*SUMS, *ALONG} == declared_in(reductions)


@pytest.mark.parametrize("operator", ["nn.softmax", "nn.log_softmax"])
@pytest.mark.parametrize("errors", [(1e27, 1e27), (0.0, 1e27), (1e27, 0.0)])
def test_a_score_that_may_be_the_largest_may_have_the_whole_share(
    operator: str, errors: tuple[float, float]
) -> None:
    """Rounding of scores as large as these decides between the first two; not so of the third."""
    scores = np.array([1e33, 1e33 - 1e26, -1e33])
    operand = Estimate(scores.astype(np.longdouble), np.array([*errors, 1e20]), "float32")
    node = Node("y", operator, ("x",), {"axis": 0})
    shares = OPERATORS[operator](node, [operand], Numerics.OWN)
    if operator == "nn.softmax":
        assert shares.value.tolist() == [1, 0, 0]
        assert (shares.error[:2] >= 1).all()
        assert shares.error[2] < 1e-30
    else:
        assert np.isinf(shares.error[:2]).all()


def test_a_bound_of_a_long_row_grows_with_the_sum_alone() -> None:
    for operator in ("nn.softmax", "nn.log_softmax"):
        program = program_of(operator, [(1, 1000)], "float32")
        (reference,) = evaluate(program, {"x0": np.zeros((1, 1000), np.float32)})
        assert (reference.bound < 1e-3 * np.abs(reference.value)).all(), operator
