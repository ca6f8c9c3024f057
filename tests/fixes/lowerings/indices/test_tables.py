"""Identities, grids, slices and medians at the edges of what they take."""

from typing import Any

import numpy as np
import pytest
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation, probes
from relaxcheck.fixes.lowerings.indices import tables
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

NUMBERS = tuple(map(tvm_api_shapes.number, (5, 2)))


def _compiled(make: Any, *shapes: Any, dtypes: Any = ()) -> Any:
    with installation.install([tables.FIX]):
        return compiled.build(compiled.module(make, *shapes, dtypes=dtypes))


def test_an_identity_of_another_dtype() -> None:
    run = _compiled(lambda x: relax.op.eye_like(x, 1, "int8"), ("n", 3))
    actual = run(np.zeros((2, 3), "float32"))
    np.testing.assert_array_equal(actual, np.eye(2, 3, 1, "int8"))
    assert actual.dtype == np.int8


@pytest.mark.parametrize("axis", [-1, -2, -3, 0])
def test_ones_along_every_axis(axis: int) -> None:
    run = _compiled(lambda x: relax.op.one_hot(x, *NUMBERS, 3, axis), (2, 2), dtypes=("int64",))
    places = np.array([[0, 2], [1, 1]])
    np.testing.assert_array_equal(run(places), np.moveaxis(np.eye(3)[places] * 3 + 2, -1, axis))


@pytest.mark.parametrize(("start", "step"), [(0, 1), (1, 2), (2, 3)])
def test_slices_of_a_symbolic_axis(start: int, step: int) -> None:
    data = compiled.sample((2, 8))
    want = data.copy()
    new = compiled.sample(want[:, start::step].shape, seed=1)
    want[:, start::step] = new
    n = tvm_api.shape_var("n")
    with installation.install([tables.FIX]):
        program = probes.program(
            lambda x, source: relax.op.slice_scatter(x, source, start, n, step, axis=1),
            *((2, n), (2, tirx.floordiv(n - start + step - 1, step))),
        )
        run = compiled.build(program)
    np.testing.assert_array_equal(run(data, new), want)


def test_a_slice_reads_no_new_value_but_its_own() -> None:
    with installation.install([tables.FIX]):
        call = probes.one_call(
            lambda x, new: relax.op.slice_scatter(x, new, 0, 1, 1, axis=0), (2, 3), (1, 3)
        )
        lowered = probes.lowered(call)
    assert lowered is not None
    text = str(lowered[0])
    # The only read of the second argument is guarded, and its place is in its one row.
    assert text.count("T.if_then_else(") == 1
    assert "T.max(" not in text
    assert "T.min(" not in text
    data, new = compiled.sample((2, 3)), compiled.sample((1, 3), seed=1)
    run = _compiled(lambda x, y: relax.op.slice_scatter(x, y, 0, 1, 1, axis=0), (2, 3), (1, 3))
    np.testing.assert_array_equal(run(data, new), np.concatenate([new, data[1:]]))


def test_the_median_of_all_keeps_every_dimension() -> None:
    run = _compiled(lambda x: relax.op.median(x, keepdims=True), ("n", 3))
    actual = run(np.array([[5, 1, 4], [2, 9, 3]], "float32"))
    np.testing.assert_array_equal(actual, [[3]])


PROGRAMS: whole.Programs = {
    "tables": {
        "dtypes of identities": (whole.upstream("tables", "dtypes_of_identities"),),
        "grids of one tensor": (whole.upstream("tables", "grids_of_one_tensor"),),
        "axes from the end": (whole.upstream("tables", "axes_from_the_end"),),
        "symbolic slices": (whole.upstream("tables", "symbolic_slices"),),
        "kept dimensions": (whole.upstream("tables", "kept_dimensions"),),
        "outer products": (whole.upstream("tables", "outer_products"),),
    },
}
