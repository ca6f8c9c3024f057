"""Sorts of as many elements as are valid agree with NumPy, in every dtype."""

import numpy as np
import pytest
import tvm
from tvm import te

from relaxcheck.fixes.lowerings.detection import counted_sorts
from tests.fixes import whole_programs as whole


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("ascends", [True, False])
def test_elements_that_do_not_count_come_last(dtype: str, ascends: bool) -> None:
    data = te.placeholder((2, 5), dtype, name="data")
    counts = te.placeholder((2,), "int32", name="counts")
    places = counted_sorts.argsort(data, counts, axis=1, is_ascend=ascends)
    function = te.create_prim_func([data, counts, places]).with_attr("global_symbol", "sort")
    array = np.array([[3, -2, 5, 9, -9], [1, 4, 0, 2, 3]], dtype)
    output = tvm.runtime.tensor(np.zeros((2, 5), "int32"))
    run = tvm.compile(function, tvm.target.Target("llvm"))["sort"]
    run(tvm.runtime.tensor(array), tvm.runtime.tensor(np.array([3, 5], "int32")), output)
    actual = output.numpy()
    for row, line, count in zip(actual, array, (3, 5), strict=True):
        kept = line[:count]
        assert row[:count].tolist() == np.argsort(kept if ascends else -kept).tolist()
        assert sorted(row.tolist()) == [0, 1, 2, 3, 4]


def test_without_counts_all_elements_are_sorted() -> None:
    data = te.placeholder((4,), "float32", name="data")
    places = counted_sorts.argsort(data, dtype="int64")
    function = te.create_prim_func([data, places]).with_attr("global_symbol", "sort")
    output = tvm.runtime.tensor(np.zeros(4, "int64"))
    run = tvm.compile(function, tvm.target.Target("llvm"))["sort"]
    run(tvm.runtime.tensor(np.array([2, 0, 3, 1], "float32")), output)
    assert output.numpy().tolist() == [1, 3, 0, 2]


PROGRAMS: whole.Programs = {
    "counted_sorts": {
        "other dtypes": tuple(
            whole.upstream("counted_sorts", "other_dtypes", dtype)
            for dtype in ("float16", "float64")
        ),
    },
}

CURES: whole.Cures = {
    "non-max-suppression-float16": (("counted_sorts", "other dtypes"),),
}
