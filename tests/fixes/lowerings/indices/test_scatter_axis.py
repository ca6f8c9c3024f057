"""An axis that the data of scatter_elements do not have is refused before any pass."""

from functools import partial
from typing import Any

import pytest
from tvm import relax

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings.indices import scatter_axis
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

DTYPES = ("float32", "int64", "float32")


def _scatter(axis: int) -> Any:
    return lambda *tensors: relax.op.scatter_elements(*tensors, axis=axis)


@pytest.mark.parametrize("axis", [2, -3, 7])
def test_an_axis_that_the_data_do_not_have_is_named(axis: int) -> None:
    message = f"relax.scatter_elements is invalid with axis={axis}: the data have 2 dimensions"
    with installation.install([scatter_axis.FIX]), pytest.raises(ValueError, match=message):
        compiled.module(_scatter(axis), (3, 4), (1, 1), (1, 1), dtypes=DTYPES)


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_the_others_stay(axis: int) -> None:
    with installation.install([scatter_axis.FIX]):
        module = compiled.module(_scatter(axis), (3, 4), (1, 1), (1, 1), dtypes=DTYPES)
    assert f"axis={axis}" in str(module)


PROGRAMS: whole.Programs = {
    "scatter_axis": {
        "foreign axes": (
            partial(
                whole.is_refused,
                _scatter(2),
                *((3, 4), (1, 1), (1, 1)),
                names=("scatter_elements", "axis"),
                dtypes=DTYPES,
            ),
            whole.upstream("scatter_axis", "scatter_along_foreign_axis"),
        ),
    },
}
