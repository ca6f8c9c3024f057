"""Truth values and bits: the three agree, and at values worked out here."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Below, Literal
from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.evaluate import OPERATORS, Numerics
from relaxcheck.oracles.reference.operators import logic
from tests.oracles.agreeing import agree, program_of
from tests.oracles.declared import declared_in

FLOATS = ("float16", "bfloat16", "float32", "float64")
WHOLE = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")
CLASSES = ("isfinite", "isinf", "isnan")
LOGICAL = ("logical_and", "logical_or", "logical_xor")
BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")
SHIFTS = ("left_shift", "right_shift")
INF, NAN = float("inf"), float("nan")


def _values(operator: str, dtype: str, *rows: tuple[float, ...]) -> list[Any]:
    """Where every oracle agrees, and nothing is left open."""
    fills = [Literal(row) for row in rows]
    program = program_of(operator, [(len(rows[0]),)] * len(rows), dtype, fills)
    reference = agree(program)
    assert not reference.bound.any()
    return list(reference.value.tolist())


@pytest.mark.parametrize("operator", CLASSES)
def test_classes_of_numbers(operator: str) -> None:
    for dtype in (*FLOATS, *WHOLE):
        for shape in ((7, 30), (0,), ()):
            reference = agree(program_of(operator, [shape], dtype), "special")
            assert reference.dtype == "bool"
    x = (1.0, INF, -INF, NAN, -0.0)
    wanted = {"isfinite": [1, 0, 0, 0, 1], "isinf": [0, 1, 1, 0, 0], "isnan": [0, 0, 0, 1, 0]}
    for dtype in FLOATS:
        assert _values(operator, dtype, x) == wanted[operator]


@pytest.mark.parametrize("operator", [*LOGICAL, *BITS])
def test_truth_tables(operator: str) -> None:
    wanted = {"and": [0, 0, 0, 1], "or": [0, 1, 1, 1], "xor": [0, 1, 1, 0]}
    table = _values(operator, "bool", (0, 0, 1, 1), (0, 1, 0, 1))
    assert table == wanted[operator.partition("_")[2]]
    agree(program_of(operator, [(4, 1), (1, 5)], "bool"))


def test_negations() -> None:
    for operator in ("logical_not", "bitwise_not"):
        assert _values(operator, "bool", (0, 1)) == [1, 0]
    assert _values("bitwise_not", "int8", (0, -1, 127, -128)) == [-1, 0, -128, 127]
    assert _values("bitwise_not", "uint8", (0, 255, 7)) == [255, 0, 248]


@pytest.mark.parametrize("dtype", WHOLE)
def test_bits_of_integers(dtype: str) -> None:
    for operator in BITS:
        for shapes in (((7, 9), (7, 9)), ((4, 1), (1, 5)), ((0, 3), (1,))):
            agree(program_of(operator, shapes, dtype), "special")
    assert _values("bitwise_xor", dtype, (12, 5), (10, 5)) == [6, 0]


@pytest.mark.parametrize("dtype", WHOLE)
def test_shifts(dtype: str) -> None:
    bits = 8 * np.dtype(dtype).itemsize
    for operator in SHIFTS:
        program = program_of(operator, [(7, 30), (7, 30)], dtype)
        open_ = agree(program, "special").bound
        fills = [Literal(tuple(range(bits)) * 2), Below(bits)]
        sure = agree(program_of(operator, [(2 * bits,)] * 2, dtype, fills)).bound
        assert np.isinf(open_).any()
        assert not sure.any()


def test_shifts_wrap_around_and_keep_the_sign() -> None:
    assert _values("left_shift", "int8", (1, 65, -1), (7, 1, 3)) == [-128, -126, -8]
    assert _values("right_shift", "int8", (-128, -1, 127), (7, 3, 1)) == [-1, -1, 63]
    assert _values("right_shift", "uint8", (255, 128, 1), (1, 7, 1)) == [127, 1, 0]
    assert _values("right_shift", "int64", (-(2**62) * 2, 2**62), (62, 62)) == [-2, 1]


def test_every_operator_of_the_group_is_held_here() -> None:
    negations = {"logical_not", "bitwise_not"}
    assert {*CLASSES, *LOGICAL, *BITS, *SHIFTS, *negations} == declared_in(logic)


@pytest.mark.parametrize("operator", [*BITS, *SHIFTS])
def test_bits_are_unconstrained_where_either_operand_is(operator: str) -> None:
    known = Estimate(np.array([1, 2]), np.zeros(2), "int32")
    half = Estimate(np.array([3, 0]), np.array([0, np.inf]), "int32")
    for operands in ([known, half], [half, known]):
        result = OPERATORS[operator](Node("y", operator, ("a", "b")), operands, Numerics.OWN)
        assert np.isinf(result.error).tolist() == [False, True]
