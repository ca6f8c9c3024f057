"""Programs over one symbol for the tests of ``fixes.bucketed``, and their comparison."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from tests.fixes import compiled

OP = relax.op
N = tvm_api.shape_var("n")


def program(body: Callable[..., Any], *shapes: Any, dtypes: Sequence[str] = ()) -> Any:
    """``main`` of tensors of these shapes, returning ``body(emit, *tensors)``."""
    builder = relax.BlockBuilder()
    names = [*dtypes, *["float32"] * (len(shapes) - len(dtypes))]
    parameters = [
        relax.Var(f"x{number}", tvm_api.tensor_type(shape, dtype))
        for number, (shape, dtype) in enumerate(zip(shapes, names, strict=True))
    ]
    with builder.function("main", parameters):
        with builder.dataflow():
            result = builder.emit_output(body(builder.emit, *parameters))
        builder.emit_func_output(result)
    return builder.get()


def inputs(module: Any, size: int) -> list[Any]:
    """Integers from 1 to 3 for each input where the symbol is ``size``."""
    generator = np.random.default_rng(size)
    arrays = []
    for parameter in module["main"].params:
        type_ = tvm_api.type_of(parameter)
        shape = tuple(
            tvm_api.as_int(tvm_api_shapes.substitute(d, {N: tvm_api.integer(size)}))
            for d in tvm_api_shapes.dims_of(type_)
        )
        arrays.append(generator.integers(1, 4, shape).astype(tvm_api.dtype_of(type_)))
    return arrays


def flat(value: Any) -> list[Any]:
    if hasattr(value, "numpy"):
        return [value.numpy()]
    return [array for field in value for array in flat(field)]


def agrees(
    module: Any,
    sizes: Sequence[int],
    bound_to: Sequence[int],
    pipeline: Any = "default",
    within: float = 0,
) -> None:
    """Assert that both return the same for all of ``bound_to``, within ``within`` of each value."""
    dynamic = compiled.machine(module, relax_pipeline=fixes.pipeline())["main"]
    static = fixes.bucketed(module, "n", sizes, compiled.TARGET, pipeline)
    for size in bound_to:
        arrays = inputs(module, size)
        try:
            want = flat(dynamic(*map(tvm.runtime.tensor, arrays)))
        except AssertionError as error:
            with refused(str(error)):
                static(*arrays)
            continue
        result = flat(static(*map(np.asfortranarray, arrays)))
        assert len(result) == len(want)
        for actual, expected in zip(result, want, strict=True):
            assert actual.dtype == expected.dtype
            np.testing.assert_allclose(actual, expected, within, within, err_msg=f"n = {size}")


def refused(message: str) -> Any:
    return pytest.raises(ValueError, match=compiled.whole(message))
