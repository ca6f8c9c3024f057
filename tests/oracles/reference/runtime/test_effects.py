"""A call for its effect stands for its last operand; a false condition is an error."""

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.oracles.agreeing import agree, program_of

TRUE, PAIR = Literal((1,)), Literal((4, 5))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8", "bool"])
def test_what_is_printed_last_goes_on(dtype: str) -> None:
    shown = agree(program_of("print", [(2,), (3,)], dtype, format="{} {}"))
    assert shown.value.shape == (3,)
    assert not shown.bound.any()


def test_a_true_condition_lets_the_last_operand_go_on() -> None:
    kinds = ["bool", "int32"]
    program = program_of("assert_op", [(), (2,)], kinds, [TRUE, PAIR], format="{}")
    assert agree(program).value.tolist() == [4, 5]
    assert agree(program_of("assert_op", [()], "bool", [TRUE])).value.tolist() == 1


@pytest.mark.parametrize(
    ("shape", "dtype", "value", "why"),
    [
        ((), "bool", 0, "the condition is false"),
        ((), "int32", 1, "a condition of int32, rank 0"),
        ((1,), "bool", 1, "a condition of bool, rank 1"),
    ],
)
def test_no_other_condition_holds(shape: tuple[int, ...], dtype: str, value: int, why: str) -> None:
    program = program_of("assert_op", [shape], dtype)
    with pytest.raises(ValueError, match=why):
        evaluate(program, {"x0": np.full(shape, value, dtype)})
