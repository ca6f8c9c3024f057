"""The fields of a tensor are those of DLPack's header, written out here."""

from math import inf

import numpy as np
import pytest

from relaxcheck.oracles.reference.evaluate import evaluate
from tests.oracles.agreeing import agree, program_of

# dlpack.h: kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6.
DTYPES = {
    "int8": (0, 8),
    "int16": (0, 16),
    "int64": (0, 64),
    "uint8": (1, 8),
    "uint32": (1, 32),
    "float16": (2, 16),
    "float64": (2, 64),
    "bfloat16": (4, 16),
    "bool": (6, 8),
}


def _field(name: str, shape: tuple[int, ...] = (2, 3), dtype: str = "float32", **rest: int) -> int:
    field = agree(program_of(f"inspect.tensor_{name}", [shape], dtype, **rest), oracles=1)
    assert (field.value.shape, field.dtype) == ((), "int64")
    assert not field.bound
    return int(field.value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str) -> None:
    code, bits = DTYPES[dtype]
    assert _field("dtype_code", dtype=dtype) == code
    assert _field("dtype_bits", dtype=dtype) == bits
    assert _field("dtype_lanes", dtype=dtype) == 1


def test_ranks_and_sizes() -> None:
    assert [_field("ndim", shape) for shape in ((), (0,), (1, 2, 3))] == [0, 1, 3]
    assert [_field("shape_i", (4, 0, 7), axis=axis) for axis in range(3)] == [4, 0, 7]


def test_strides_are_those_of_row_major_order() -> None:
    assert [_field("stride_i", (2, 3, 4), axis=axis) for axis in range(3)] == [12, 4, 1]
    assert [_field("stride_i", (5, 1), axis=axis) for axis in range(2)] == [1, 1]


def test_strides_of_nothing_are_free() -> None:
    program = program_of("inspect.tensor_stride_i", [(2, 0)], axis=0)
    (stride,) = evaluate(program, {"x0": np.ones((2, 0), np.float32)})
    assert stride.bound == inf


def test_a_tensor_begins_at_its_first_element() -> None:
    for name in ("byte_offset", "elem_offset"):
        assert _field(name) == 0


@pytest.mark.parametrize("field", ["shape_i", "stride_i"])
@pytest.mark.parametrize("axis", [2, -1])
def test_an_axis_that_is_not_there_is_refused(field: str, axis: int) -> None:
    program = program_of(f"inspect.tensor_{field}", [(2, 3)], axis=axis)
    with pytest.raises(ValueError, match=f"axis {axis} of rank 2"):
        evaluate(program, {"x0": np.ones((2, 3), np.float32)})
