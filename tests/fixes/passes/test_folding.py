"""FoldConstant with the fix folds the same as TVM's, and leaves the rest alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.passes import folding
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op
M = tvm_api.shape_var("m")
ROW = np.arange(3, dtype="float32")


def row() -> Any:
    return tvm_api.const(ROW)


def program(make: Callable[[Any, Any], Any], dataflow: bool = True) -> Any:
    """A module of the bindings that ``make`` emits for a tensor of (m, 3)."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type((M, 3), "float32"))
    with builder.function("main", [x]):
        if not dataflow:
            builder.emit_func_output(make(builder, x))
        else:
            with builder.dataflow():
                result = builder.emit_output(make(builder, x))
            builder.emit_func_output(result)
    return builder.get()


def chain(builder: Any, x: Any) -> Any:
    squared = builder.emit(OP.multiply(row(), row()))
    return builder.emit(OP.add(x, builder.emit(OP.add(squared, row()))))


def written_shape(builder: Any, x: Any) -> Any:
    shape = builder.emit(relax.ShapeExpr([M, tvm_api.integer(3)]))
    return builder.emit(OP.reshape(x, shape))


def shape_of_values(builder: Any, x: Any) -> Any:
    sizes = tvm_api.const(np.array([2, 3], "int64"))
    shape = builder.emit(OP.tensor_to_shape(builder.emit(OP.add(sizes, sizes))))
    return builder.emit(relax.Tuple([x, builder.emit(OP.ones(shape, "float32"))]))


def bound(builder: Any, x: Any) -> Any:
    known = builder.emit(row())
    return builder.emit(OP.add(x, builder.emit(OP.multiply(known, row()))))


def cast(builder: Any, x: Any) -> Any:
    result = builder.emit(OP.multiply(row(), row()))
    known = builder.match_cast(result, tvm_api.tensor_type((3,), "float32"))
    return builder.emit(OP.add(x, known))


@pytest.mark.parametrize("make", [chain, bound, written_shape, shape_of_values, cast])
@pytest.mark.parametrize("lowered", [False, True])
def test_folds_the_calls_that_tvm_folds(make: Any, lowered: bool) -> None:
    module = program(make)
    if lowered:
        module = relax.transform.LegalizeOps()(module)
    wanted = folding._ORIGINAL()(module)
    tvm.ir.assert_structural_equal(folding.FoldConstant()(module), wanted)
    assert not folding.FoldConstant()(module).same_as(module)


def items(builder: Any, x: Any) -> Any:
    parts = builder.emit(OP.split(row(), 3))
    last = builder.emit(relax.TupleGetItem(parts, 2))
    return builder.emit(OP.add(x, last))


def test_items_of_tuples_are_folded() -> None:
    result = folding.FoldConstant()(program(items))
    assert compiled.calls(result) == ["relax.add"]
    data = np.ones((2, 3), "float32")
    np.testing.assert_array_equal(compiled.build(result)(data), data + 2)


@pytest.mark.parametrize("make", [lambda builder, x: builder.emit(OP.tanh(x)), chain])
def test_non_constants_and_calls_outside_dataflow_are_left_unchanged(make: Any) -> None:
    module = program(make, dataflow=False)
    assert folding.FoldConstant()(module).same_as(module)


def test_lowered_calls_are_folded_outside_of_dataflow_too() -> None:
    module = relax.transform.LegalizeOps()(program(chain, dataflow=False))
    result = folding.FoldConstant()(module)
    tvm.ir.assert_structural_equal(result, folding._ORIGINAL()(module))
    assert compiled.calls(module) == ["relax.call_tir"] * 3
    assert compiled.calls(result) == ["relax.call_tir"]


def test_a_condition_within_another_is_no_hindrance() -> None:
    """A Python mutator fails on it in 0.26 and 0.27, and TVM's own pass on the rest."""

    def nested(builder: Any, x: Any) -> Any:
        shape = builder.emit(OP.shape_of(x))
        folded = builder.emit(OP.broadcast_to(builder.emit(OP.add(row(), row())), shape))
        inner = tirx.if_then_else(M > 2, M, 2)
        size = relax.ShapeExpr([tirx.if_then_else(M > 3, 1, inner)])
        return builder.emit(relax.Tuple([folded, builder.emit(size)]))

    module = program(nested)
    module.update_func(tvm.ir.GlobalVar("other"), program(chain)["main"])
    result = folding.FoldConstant()(module)
    assert set(compiled.calls(result)) <= set(compiled.calls(module))
    # The other function is still folded.
    wanted = folding.FoldConstant()(program(chain))["main"]
    tvm.ir.assert_structural_equal(result["other"], wanted)
    assert not tvm_api_shapes.alike(result["other"], module["other"])


@pytest.mark.parametrize(
    ("shape", "folds"), [((3, 0), False), ((0, 3), True), ((0,), True), ((3,), True), ((), True)]
)
def test_what_a_library_cannot_be_loaded_with_is_computed(shape: Any, folds: bool) -> None:
    module = probes.program(lambda x: OP.add(x, OP.zeros(shape, "float32")), shape)
    result = folding.FoldConstant()(relax.transform.LegalizeOps()(module))
    assert compiled.calls(result) == ["relax.call_tir"] * (1 if folds else 2)


PROGRAMS: whole.Programs = {
    "folding": {
        "unknown shapes": tuple(
            whole.upstream("folding", name)
            for name in ("a_shape_that_a_call_gives", "a_call_on_an_unknown_shape")
        ),
        "several calls": (whole.upstream("folding", "a_call_that_is_lowered_to_several"),),
        "symbols as tensors": (whole.upstream("folding", "a_shape_with_a_symbol_as_a_tensor"),),
        "narrow sizes": (whole.upstream("folding", "sizes_of_32_bits"),),
        "constants of nothing": (
            whole.upstream("folding", "a_constant_without_elements_is_loaded"),
        ),
    },
}

CURES: whole.Cures = {
    "folded-shape-of-broadcast": (("folding", "unknown shapes"),),
    "folded-slice-of-values": (("folding", "several calls"),),
    "tensor-to-shape-of-32-bits-folded": (("folding", "narrow sizes"),),
}
