"""Different elements agree with NumPy's, in every order and with all that can be asked for."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import tvm

from relaxcheck.fixes.lowerings.unique import numpy_unique
from tests.fixes import whole_programs as whole
from tests.fixes.upstream.for_tvm.lowerings import test_unique as for_tvm

DATA = np.array([[3, 1, 1, 0], [3, 1, 1, 0], [0, 0, 3, 2]], "float32")


def _of(*asked: int, sorted: int = 1, axis: int | None = None) -> list[Any]:
    result = numpy_unique(tvm.runtime.tensor(DATA), sorted, *asked, axis)
    assert isinstance(result, tuple) == (sum(asked) > 0)
    return [each.numpy() for each in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("ascending", [0, 1])
def test_results_fit_together(ascending: int, axis: int | None) -> None:
    values, indices, inverse, counts = _of(1, 1, 1, sorted=ascending, axis=axis)
    whole_data = DATA.ravel() if axis is None else DATA
    along = axis or 0
    np.testing.assert_array_equal(np.take(values, inverse, along), whole_data)
    np.testing.assert_array_equal(np.take(whole_data, indices, along), values)
    assert counts.tolist() == [(inverse == number).sum() for number in range(len(counts))]
    assert all((inverse[: indices[number]] != number).all() for number in range(len(counts)))
    if not ascending:
        assert indices.tolist() == np.sort(indices).tolist()
    elif axis is None:
        assert values.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("asked", [*product((0, 1), repeat=3)])
def test_only_what_is_asked_for_is_given(asked: tuple[int, int, int]) -> None:
    every = _of(1, 1, 1, sorted=0)
    wanted = [every[0], *(each for each, wants in zip(every[1:], asked, strict=True) if wants)]
    for given, expected in zip(_of(*asked, sorted=0), wanted, strict=True):
        np.testing.assert_array_equal(given, expected)


PROGRAMS: whole.Programs = {
    "unique": {
        "inverse indices": tuple(
            whole.upstream("unique", "inverse_indices_of_a_matrix", *parameters)
            for parameters in (
                (for_tvm.Ascending, [1, 2, 7], [2, 0, 2, 1, 0, 0]),
                (for_tvm.InOrder, [7, 1, 2], [0, 1, 0, 2, 1, 1]),
            )
        ),
    },
}

CURES: whole.Cures = {
    "unique-inverse-of-a-matrix": (("unique", "inverse indices"),),
}
