"""Code generation refuses calls that lowering left, and generates what it did before."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.relax import vm_build

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.passes import left_calls
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op


def test_the_error_has_operator_types_and_attributes() -> None:
    module = compiled.module(OP.matmul, ("a", 2, 4), ("b", 4, 3))
    with (
        installation.install([left_calls.FIX]),
        pytest.raises(tvm_api.OpNotImplemented) as caught,
    ):
        relax.build(module, compiled.TARGET)
    message = str(caught.value)
    for part in (
        "relax.matmul cannot be lowered",
        "x1='float32 (a, 2, 4)'",
        "x2='float32 (b, 4, 3)'",
        "out_dtype=''",
        "LegalizeOps left",
    ):
        assert part in message


@pytest.mark.parametrize(
    ("make", "shapes", "message"),
    [
        (
            OP.matmul,
            (("n", 2, 3), ("m", 3, 2)),
            "relax.matmul cannot be lowered with x1='float32 (n, 2, 3)', x2='float32 (m, 3, 2)',"
            " out_dtype=''. ",
        ),
        (
            OP.maximum,
            (("n", 2), ("m", 2)),
            "relax.maximum cannot be lowered with x1='float32 (n, 2)', x2='float32 (m, 2)'. ",
        ),
        (
            lambda x, y: OP.nn.layer_norm(x, y, y, axes=-1),
            (("n", 4), ("m",)),
            "relax.nn.layer_norm cannot be lowered with data='float32 (n, 4)', gamma='float32 (m)',"
            " beta='float32 (m)', axes=(-1,), center=True, epsilon=1e-05, scale=True. ",
        ),
        (
            lambda x: OP.sum(OP.nonzero(x), 1, keepdims=True),
            (("n", 2),),
            "relax.sum cannot be lowered with x='int64 of rank 2', axis=(1,), keepdims=True. ",
        ),
    ],
)
def test_all_fixes_without_their_pipeline_name_what_is_left(
    fixes_on: None, make: Callable[..., Any], shapes: Any, message: str
) -> None:
    module = compiled.module(make, *shapes)
    with pytest.raises(tvm_api.OpNotImplemented) as caught:
        relax.build(module, compiled.TARGET)
    assert str(caught.value).startswith(message)


def test_all_left_calls_are_listed_and_others_are_not() -> None:
    calls = left_calls.left_calls(compiled.module(OP.add, ("m",), ("n",)))
    assert [call.op.name for call in calls] == ["relax.add"]
    lowered = relax.transform.LegalizeOps()(compiled.module(OP.add, (2,), (2,)))
    assert left_calls.left_calls(lowered) == []


@pytest.mark.parametrize("exec_mode", ["bytecode", "compiled"])
def test_lowered_calls_are_generated(exec_mode: str) -> None:
    with installation.install([left_calls.FIX]):
        run = compiled.build(compiled.module(OP.add, (2,), (2,)), exec_mode)
    array = np.ones(2, "float32")
    np.testing.assert_array_equal(run(array, array), array + array)


def test_an_unknown_mode_is_refused() -> None:
    with installation.install([left_calls.FIX]), pytest.raises(ValueError, match="Unknown exec"):
        vm_build._vmcodegen(relax.ExecBuilder(), tvm.IRModule({}), "x")


PROGRAMS: whole.Programs = {
    "left_calls": {"left calls": (whole.upstream("left_calls", "left_call", "bytecode"),)},
}
