"""A lowered program run without the passes that come after LegalizeOps."""

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.harness.compiling.building import Compiled, load, run
from relaxcheck.harness.compiling.direct import NotDirect, called
from relaxcheck.harness.compiling.passes.stages import StageError
from relaxcheck.harness.native.target import target


def _program() -> Any:
    """``(x + 2, x * x)``, before LegalizeOps."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type((tvm_api.shape_var("n"), 3), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            added = builder.emit(relax.op.add(x, tvm_api.const(np.float32([2.0]))))
            squared = builder.emit(relax.op.multiply(x, x))
            both = builder.emit_output(relax.Tuple([added, squared]))
        builder.emit_func_output(both)
    return builder.get()


def test_functions_are_called_in_the_order_of_the_program() -> None:
    main = called(relax.transform.LegalizeOps()(_program()), target(0))
    x = np.arange(6, dtype="float32").reshape(2, 3)
    added, squared = run(main, [x])
    np.testing.assert_array_equal(added, x + 2)
    np.testing.assert_array_equal(squared, x * x)


_LATER = (
    *("RewriteDataflowReshape", "ToNonDataflow", "RemovePurityChecking", "CallTIRRewrite"),
    *("StaticPlanBlockMemory", "LowerAllocTensor", "KillAfterLastUse", "LowerRuntimeBuiltin"),
    *("ComputePrimValue", "VMShapeLower"),
)


@pytest.mark.parametrize("last", _LATER[3:])
def test_the_module_after_each_later_pass_can_be_called(last: str) -> None:
    module = relax.transform.LegalizeOps()(_program())
    with target(0):
        for name in _LATER[: _LATER.index(last) + 1]:
            module = getattr(relax.transform, name)()(module)
    x = np.arange(6, dtype="float32").reshape(2, 3)
    added, squared = run(called(module, target(0)), [x])
    np.testing.assert_array_equal(added, x + 2)
    np.testing.assert_array_equal(squared, x * x)


def test_a_function_that_writes_out_of_bounds_is_named() -> None:
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type((0, 3), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            total = builder.emit_output(builder.emit_te(_first_always, x))
        builder.emit_func_output(total)
    with pytest.raises(StageError, match="_first_always wrote out of bounds: it changed 4 bytes"):
        run(called(builder.get(), target(0)), [np.zeros((0, 3), "float32")])


def _first_always(x: Any) -> Any:
    """A copy of ``x`` that stores one element where there may be none."""

    def body(operands: Any, results: Any) -> Any:
        source, to = operands[0], results[0]
        zero = tvm.tirx.IntImm("int32", 0)
        value = tvm.tirx.const(1.0, source.dtype)
        return tvm.tirx.BufferStore(to, value, [zero, zero])

    return tvm.te.extern([x.shape], [x], body, dtype=[x.dtype])


def test_programs_that_cannot_run_directly_are_no_fault_of_tvm() -> None:
    main = load(Compiled(None, "main", direct=_program()))
    with pytest.raises(NotDirect, match=r"R\.add"):
        run(main, [np.zeros((2, 3), "float32")])


def test_a_tensor_that_is_larger_than_its_storage_is_an_error() -> None:
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type((2, 3), "float32"))
    with builder.function("main", [x]):
        storage = builder.emit(
            relax.op.memory.alloc_storage(relax.ShapeExpr([16]), 0, "global", "float32")
        )
        made = relax.op.memory.alloc_tensor(storage, 0, relax.ShapeExpr([2, 3]), "float32")
        builder.emit_func_output(builder.emit(made))
    with pytest.raises(StageError, match="a tensor of 24 bytes in one of 16"):
        run(called(builder.get(), target(0)), [np.zeros((2, 3), "float32")])
