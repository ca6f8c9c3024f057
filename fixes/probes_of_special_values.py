"""What the running TVM makes of NaN, infinities and the ends of dtypes."""

from typing import Any

import numpy as np
from tvm import relax

from fixes.probes import computes, inputs, one_call
from fixes.probes_of_shapes import run_fused


def is_unequal_to_nan() -> bool:
    """Whether what is not a number is unequal to itself."""
    call = one_call(relax.op.not_equal, (2,), (2,))
    array = np.array([np.nan, 1], "float32")
    return computes(call, [array, array], np.array([1, 0]))


def is_unequal_to_nan_when_fused() -> bool:
    """Whether what is not a number is not equal to itself where that is fused with what follows."""
    found = _fused_with_itself(relax.op.equal, lambda same: relax.op.astype(same, "float32"))
    return bool((found == [1, 0, 1]).all())


def leaves_nothing_of_infinity() -> bool:
    """Whether infinity less itself is not a number where that is fused with what follows."""
    found = _fused_with_itself(relax.op.subtract, relax.op.abs)
    return bool((np.isnan(found) == [True, True, False]).all())


def _fused_with_itself(make: Any, follow: Any) -> Any:
    """What comes of ``follow(make(x, x))`` for infinity, NaN and 1."""
    builder = relax.BlockBuilder()
    (x,) = inputs([(3,)])
    with builder.function("main", [x]):
        with builder.dataflow():
            both = builder.emit(make(x, x))
            result = builder.emit_output(builder.emit(follow(both)))
        builder.emit_func_output(result)
    return run_fused(builder.get(), np.array([np.inf, np.nan, 1], "float32"))


def finds_infinities() -> bool:
    """Whether the first of the largest, and of the smallest, has a place where all are infinite."""
    array = np.full(3, np.inf, "float32")
    large = one_call(lambda x: relax.op.argmax(x, axis=0, keepdims=True), (3,))
    small = one_call(lambda x: relax.op.argmin(x, axis=0, keepdims=True), (3,))
    zero = np.zeros(1)
    return computes(large, [-array], zero) and computes(small, [array], zero)
