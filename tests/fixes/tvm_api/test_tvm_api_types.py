"""The spelling of dtypes and remainders, whatever holds them."""

from types import SimpleNamespace
from typing import Any

import pytest

from relaxcheck.fixes import tvm_api


class Named:
    """A dtype whose own text is not its name, as a type's text need not be."""

    dtype = "int8"

    def __str__(self) -> str:
        return "PrimType(int8)"


@pytest.mark.parametrize(
    "value",
    [
        SimpleNamespace(dtype=Named()),
        SimpleNamespace(ty=SimpleNamespace(dtype=Named())),
        SimpleNamespace(struct_info_=SimpleNamespace(dtype=Named())),
    ],
)
def test_the_name_of_a_dtype_is_that_of_its_dtype(value: Any) -> None:
    assert tvm_api.dtype_of(value) == "int8"


def test_a_divisor_that_can_be_nothing_but_one() -> None:
    n = tvm_api.shape_var("n")
    unit = n - n + 1
    assert int(tvm_api.floormod(n, unit)) == 0
    assert tvm_api.floordiv(n, unit) is n
