"""Scatters of any indices compile and write where they say; places may count from the end."""

from typing import Any

import numpy as np
import pytest
import torch
from tvm import relax

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings.indices import scatters
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

KINDS = ("float32", "int64", "float32")


def _compiled(make: Any, *shapes: Any, dtypes: Any = KINDS) -> Any:
    with installation.install([scatters.FIX]):
        return compiled.build(compiled.module(make, *shapes, dtypes=dtypes))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_fewer_indices_along_other_axes(axis: int) -> None:
    shape, fewer = (3, 4, 5), (2, 3, 4)
    run = _compiled(lambda *x: relax.op.scatter_elements(*x, axis=axis), shape, fewer, fewer)
    data, new = compiled.sample(shape), compiled.sample(fewer, seed=1)
    generator = np.random.default_rng(0)
    size, count = shape[axis], fewer[axis]
    places = np.moveaxis(
        np.array([generator.permutation(size)[:count] for _ in range(24 // count)]).reshape(
            *(each for at, each in enumerate(fewer) if at != axis % 3), count
        ),
        -1,
        axis,
    )
    want = torch.tensor(data).scatter(axis, torch.tensor(places), torch.tensor(new))
    np.testing.assert_array_equal(run(data, places - size * (places % 2), new), want)


@pytest.mark.parametrize(
    ("reduction", "wanted"), [("add", 9), ("mul", 24), ("max", 4), ("min", 2), ("mean", 3.25)]
)
def test_several_updates_of_an_element(reduction: str, wanted: float) -> None:
    def make(*x: Any) -> Any:
        return relax.op.scatter_elements(*x, axis=0, reduction=reduction)

    run = _compiled(make, ("n",), ("m",), ("m",))
    data, new = np.array([1, 2], "float32"), np.array([3, 4], "float32")
    np.testing.assert_array_equal(run(data, np.array([1, -1]), new), [1, wanted])
    np.testing.assert_array_equal(run(data, np.zeros(0, "int64"), new[:0]), data)


def test_slices_at_symbolic_places() -> None:
    run = _compiled(
        lambda *x: relax.op.scatter_nd(*x, reduction="add"), *(("n", 2), ("m", 1)), ("m", 2)
    )
    data, new = np.zeros((3, 2), "float32"), np.ones((2, 2), "float32")
    np.testing.assert_array_equal(run(data, np.array([[2], [2]]), new), [[0, 0], [0, 0], [2, 2]])


def test_crossed_places() -> None:
    run = _compiled(
        lambda data, rows, columns, new: relax.op.index_put(data, (rows, columns), new),
        *(("n", 3), ("m",), (2, 1), (2, "m")),
        dtypes=("float32", "int64", "int32", "float32"),
    )
    data, new = np.zeros((2, 3), "float32"), np.array([[1, 2], [3, 4]], "float32")
    columns = np.array([[0], [-1]], "int32")
    wanted = [[2, 0, 4], [1, 0, 3]]
    np.testing.assert_array_equal(run(data, np.array([-1, 0]), columns, new), wanted)


def test_a_place_is_read_from_the_end() -> None:
    run = _compiled(
        lambda data, rows: relax.op.index_tensor(data, [rows]),
        *(("n", 2), ("m",)),
        dtypes=("float32", "int64"),
    )
    data = compiled.sample((3, 2))
    np.testing.assert_array_equal(run(data, np.array([-1, 0, -3])), data[[-1, 0, -3]])


@pytest.mark.parametrize("name", ["scatter_elements", "scatter_nd"])
def test_an_unknown_reduction_is_refused(name: str) -> None:
    def make(*x: Any) -> Any:
        return getattr(relax.op, name)(*x, reduction="sub")

    with pytest.raises(ValueError, match=f"{name} is invalid with reduction='sub'"):
        _compiled(make, (3, 1), (1, 1), (1, 1))


PROGRAMS: whole.Programs = {
    "scatters": {
        "no updates": (whole.upstream("scatters", "no_updates"),),
        "fewer indices": (whole.upstream("scatters", "fewer_indices"),),
        "symbolic places": (whole.upstream("scatters", "symbolic_places"),),
        "negative indices": (whole.upstream("scatters", "negative_indices"),),
    },
}
