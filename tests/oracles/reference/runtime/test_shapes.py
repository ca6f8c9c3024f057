"""Numbers of elements, and vectors as shapes: all agree at values worked out here."""

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.oracles.agreeing import agree, program_of


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8", "bool"])
@pytest.mark.parametrize(
    ("shape", "count"), [((), 1), ((5,), 5), ((2, 3, 4), 24), ((3, 0), 0), ((0,), 0)]
)
def test_the_elements_are_counted(dtype: str, shape: tuple[int, ...], count: int) -> None:
    size = agree(program_of("size", [shape], dtype))
    assert (size.value.shape, size.value.item(), size.dtype) == ((), count, "int64")
    assert not size.bound.any()


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16"])
def test_a_vector_is_a_shape(dtype: str) -> None:
    shape = agree(program_of("tensor_to_shape", [(3,)], dtype, [Literal((2, 0, 7))]))
    assert (shape.value.tolist(), shape.dtype) == ([2, 0, 7], "int64")
    assert agree(program_of("tensor_to_shape", [(0,)], dtype)).value.shape == (0,)


@pytest.mark.parametrize(
    ("shape", "dtype"), [((2,), "float32"), ((2,), "int8"), ((2,), "uint32"), ((1, 2), "int64")]
)
def test_no_other_tensor_is_a_shape(shape: tuple[int, ...], dtype: str) -> None:
    program = program_of("tensor_to_shape", [shape], dtype)
    with pytest.raises(ValueError, match="is no vector of sizes"):
        evaluate(program, {"x0": np.ones(shape, dtype)})
