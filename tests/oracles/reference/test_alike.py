"""``zeros_like``, ``ones_like`` and ``full_like``: the three agree in every pair of dtypes."""

import pytest

from relaxcheck.oracles.reference.operators import alike
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "int64", "bool")
VALUES = {"zeros_like": 0, "ones_like": 1, "full_like": 3}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operator", VALUES)
def test_they_agree(operator: str, dtype: str) -> None:
    fill = {"fill_value": 3} if operator == "full_like" else {}
    for to in DTYPES:
        for shape in ((2, 3), (0,), ()):
            reference = agree(program_of(operator, [shape], dtype, dtype=to, **fill), "special")
            wanted = min(VALUES[operator], 1) if to == "bool" else VALUES[operator]
            assert reference.dtype == to
            assert (reference.value == wanted).all()
            assert not reference.bound.any()
    alone = agree(program_of(operator, [(4,)], dtype, **fill))
    assert alone.dtype == dtype
    wrong_is_seen(alone)


def test_every_operator_of_the_group_is_held_here() -> None:
    assert declared_in(alike) == VALUES.keys()
