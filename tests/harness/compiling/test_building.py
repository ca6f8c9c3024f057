"""Running what was compiled: arguments lie in rooms of their own."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tvm
from tvm import te

from relaxcheck.harness.compiling.building import run
from relaxcheck.harness.compiling.judgement import SHAPE
from relaxcheck.harness.compiling.passes.stages import StageError
from relaxcheck.harness.compiling.room import OutOfBounds
from relaxcheck.harness.native.memory import OTHER, USUAL


def _before(x: Any) -> Any:
    """Each element's neighbour on the left, which the first does not have."""
    x_ = te.placeholder((3,), "uint8", "x")
    shifted = te.compute((3,), lambda i: x_[i - 1], "shifted")
    built = tvm.tirx.build(te.create_prim_func([x_, shifted]), target="llvm")
    result = tvm.runtime.empty((3,), "uint8")
    built["main"](x, result)
    return result


@pytest.mark.parametrize("fresh", [USUAL, OTHER])
def test_a_read_before_an_argument_gives_the_byte_of_fresh_memory(fresh: int) -> None:
    (result,) = run(_before, [np.array([1, 2, 3], np.uint8)], fresh)
    assert result.tolist() == [fresh, 1, 2]


def test_a_write_beside_an_argument_is_an_error_of_the_run() -> None:
    def spoil(x: Any) -> Any:
        beyond = np.from_dlpack(x)
        np.lib.stride_tricks.as_strided(beyond, (4,), (1,))[3] = 9
        return x

    with pytest.raises(StageError) as caught:
        run(spoil, [np.array([1, 2, 3], np.uint8)])
    assert caught.value.stage == "run"
    assert isinstance(caught.value.cause, OutOfBounds)


def test_a_tensor_of_int4_has_its_own_dtype() -> None:
    (result,) = run(lambda: tvm.runtime.empty((4,), "int4"), [])
    assert result.dtype == ml_dtypes.int4


def test_a_shape_is_a_single_output_and_no_tensor() -> None:
    shape, tensor = tvm.runtime.ShapeTuple((2, 3)), tvm.runtime.empty((4,), "float32")
    (alone,) = run(lambda: shape, [])
    first, second = run(lambda: (shape, tensor), [])
    for result in (alone, first):
        assert (result.dtype, result.tolist()) == (SHAPE, [(2,), (3,)])
    assert (second.dtype, second.shape) == (np.float32, (4,))
    (empty,) = run(lambda: tvm.runtime.ShapeTuple(()), [])
    assert (empty.dtype, empty.shape) == (SHAPE, (0,))
