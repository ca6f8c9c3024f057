"""Marks for the pass Gradient: the three oracles give the operand, bit for bit."""

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.oracles.reference.operators.training import marks
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

NAMES = ("grad.no_grad", "grad.start_checkpoint", "grad.end_checkpoint")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "bool"])
def test_every_dtype_is_kept(name: str, dtype: str) -> None:
    for shape in ((3, 4), (0, 2), ()):
        for regime in ("normal", "exact", "moderate", "boundary", "special"):
            reference = agree(program_of(name, [shape], dtype), regime)
            assert not reference.bound.any()
            assert reference.signed_zeros == ("float" in dtype)
            if regime == "normal" and dtype != "bool":
                wrong_is_seen(reference)


@pytest.mark.parametrize("name", NAMES)
def test_of_three_numbers(name: str) -> None:
    fills = [Literal((1.5, -0.0, -2))]
    reference = agree(program_of(name, [(3,)], "float32", fills))
    assert reference.value.tolist() == [1.5, 0, -2]
    assert np.signbit(reference.value).tolist() == [False, True, True]


def test_the_module_holds_these_operators_alone() -> None:
    assert declared_in(marks) == set(NAMES)
