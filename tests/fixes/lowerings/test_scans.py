"""Cumulative sums and products agree with NumPy, over empty axes too."""

import re
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, te

from relaxcheck.fixes.lowerings import (
    scans,
)
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op


SCANS: list[tuple[str, int | None, bool, str | None]] = [
    ("cumsum", 1, False, None),
    ("cumsum", -1, True, "float64"),
    ("cumsum", None, True, None),
    ("cumprod", 0, False, None),
    ("cumprod", 2, True, None),
]


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(("name", "axis", "exclusive", "dtype"), SCANS)
def test_scans(
    name: str, axis: int | None, exclusive: bool, dtype: str | None, fused: bool
) -> None:
    def make(x: Any) -> Any:
        # Fused stages write to each other's tensors.
        result = getattr(OP, name)(OP.negative(x), axis=axis, exclusive=exclusive, dtype=dtype)
        return OP.negative(result)

    shape = ("B", "M", 1, "N")
    run = compiled.run_with(scans.FIX, make, shape, dtypes=("float32",), fused=fused)
    first = 0 if name == "cumsum" else 1
    for size in ((2, 3, 1, 4), (1, 1, 1, 1), (0, 3, 1, 2), (2, 0, 1, 3), (2, 3, 1, 0)):
        array = compiled.sample(size)
        row = -array.ravel() if axis is None else -array
        along = 0 if axis is None else axis
        if exclusive:
            # The first of each row, then all others except the last.
            start = np.full_like(row.take(range(min(row.shape[along], 1)), along), first)
            row = np.concatenate([start, row.take(range(row.shape[along] - 1), along)], along)
        want = -getattr(np, name)(row, along)
        result = run(array)
        assert result.dtype == np.dtype(dtype or "float32")
        np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-5)


def test_a_scan_writes_its_output_and_no_more() -> None:
    """The rows are scanned in parallel; an axis of one row is none."""
    data = te.placeholder((1, 2, 3), "float32", name="data")
    scanned = scans.scanop(data, lambda x, y: x + y, 0, "cumsum", axis=2)
    function = te.create_prim_func([data, scanned])
    assert re.findall(r"T\.parallel\((?:T\.int64\()?(\d+)", str(function)) == ["2"]
    memory = np.full(64, 7, "float32")
    aligned = memory[(-memory.ctypes.data % 64) // 4 :]
    output = tvm.runtime.from_dlpack(aligned[:6].reshape(1, 2, 3))
    array = compiled.sample((1, 2, 3))
    run = tvm.compile(function.with_attr("global_symbol", "scan"), compiled.TARGET)
    run["scan"](tvm.runtime.tensor(array), output)
    np.testing.assert_allclose(aligned[:6].reshape(1, 2, 3), array.cumsum(2), rtol=1e-5)
    assert (aligned[6:] == 7).all()


def test_a_scan_of_fixed_sizes() -> None:
    run = compiled.run_with(
        scans.FIX, lambda x: OP.cumsum(x, axis=0), (3, 1, 2), dtypes=("int32",), fused=True
    )
    array = compiled.sample((3, 1, 2), "int32")
    np.testing.assert_array_equal(run(array), array.cumsum(0))


PROGRAMS: whole.Programs = {
    "scans": {"empty axes": (whole.upstream("scans", "rows_without_an_element"),)},
}

CURES: whole.Cures = {
    "scan-of-nothing": (("scans", "empty axes"),),
}


@pytest.mark.parametrize("axis", [0, None])
def test_a_scan_of_an_axis_without_elements_has_no_loop_over_it(axis: int | None) -> None:
    """0.26 compiles no loop of -1 iterations, though a condition that is false is before it."""
    data = te.placeholder((0, 4), "float32", name="data")
    scanned = scans.scanop(data, lambda x, y: x + y, 0, "cumsum", axis=axis, exclusive=True)
    function = te.create_prim_func([data, scanned])
    assert "-1" not in function.script()
    assert tvm.compile(tvm.IRModule({"main": function})) is not None
