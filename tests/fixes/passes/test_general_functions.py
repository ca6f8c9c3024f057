"""TIR functions that have more dimensions of their own than their calls distinguish."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from tvm import relax, te

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.passes import general_functions
from tests.fixes import compiled
from tests.fixes import whole_programs as whole
from tests.fixes.whole_programs import K, M, N

OP = relax.op


def lowered(shape: Any) -> Any:
    """The module of ``opposite`` on a tensor of ``shape``, before fusion."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type(shape, "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            output = builder.emit_output(opposite(builder, x))
        builder.emit_func_output(output)
    module = relax.transform.LegalizeOps()(builder.get())
    return relax.transform.AnnotateTIROpPattern()(module)


@pytest.mark.parametrize("shape", [(M, N), (N, K)])
def test_renamed_symbols_are_fused(shape: Any) -> None:
    module = lowered(shape)
    assert general_functions.PASS(module).same_as(module)


@pytest.mark.parametrize("shape", [(M, M), (M, M * 2), (M, M + 1), (M, 3), (2, 3)])
def test_less_general_functions_are_not_fused(shape: Any) -> None:
    module = lowered(shape)
    passed = general_functions.PASS(module)
    assert int(passed["opposite"].attrs["op_pattern"]) == 8
    # TVM makes a lowered function for one particular call.
    (made,) = {var.name_hint for var in module.get_global_vars()} - {"main", "opposite"}
    assert passed[made].same_as(module[made])


def test_a_number_of_its_own_is_no_symbol_of_the_call() -> None:
    """Arguments are checked at run time; FuseTIR treats both as the same."""
    tensor = te.placeholder((tvm_api.shape_var("a"), tvm_api.integer(3)), "float32", name="tensor")
    made = te.create_prim_func([tensor, te.compute(tensor.shape, lambda i, j: -tensor[i, j])])
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type((M, N), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            function = builder.add_func(made.without_attr("global_symbol"), "opposite")
            called = OP.call_tir(function, [x], tvm_api.tensor_type((M, 3), "float32"))
            output = builder.emit_output(builder.emit(called))
        builder.emit_func_output(output)
    assert int(general_functions.PASS(builder.get())["opposite"].attrs["op_pattern"]) == 8


def test_values() -> None:
    with installation.install([general_functions.FIX]):
        run = compiled.build(lowered((M, M * 2)), pipeline=fixes.pipeline(compiled.TARGET))
    for size in (1, 3):
        x = compiled.sample((size, 2 * size))
        np.testing.assert_allclose(run(x), -np.exp(x), rtol=1e-6)


def test_tensors_of_unknown_shape_and_several_results() -> None:
    def make(known: bool) -> Any:
        a = tvm_api.shape_var("a")
        tensor = te.placeholder((a,), "float32", name="tensor")
        twice = te.compute((a,), lambda i: tensor[i] * 2, name="twice")
        made = te.create_prim_func([tensor, twice, te.compute((a,), lambda i: -tensor[i])])
        builder = relax.BlockBuilder()
        kind = tvm_api.tensor_type((M,), "float32")
        x = relax.Var("x", kind if known else tvm_api.unshaped_type(1, "float32"))
        y = relax.Var("y", kind)
        with builder.function("main", [x, y]):
            with builder.dataflow():
                function = builder.add_func(made.without_attr("global_symbol"), "function")
                called = builder.emit(OP.call_tir(function, [x], [kind, kind]))
                output = builder.emit_output(called)
            builder.emit_func_output(output)
        return builder.get()

    module = make(known=True)
    assert general_functions.PASS(module).same_as(module)
    passed = general_functions.PASS(make(known=False))
    assert int(passed["function"].attrs["op_pattern"]) == 8


def test_this_tvm_needs_it() -> None:
    assert general_functions.FIX.needed()


def opposite(builder: Any, x: Any) -> Any:
    """The opposite of exp(x), by a function over two dimensions of its own."""
    a, b = map(tvm_api.shape_var, "ab")
    tensor = te.placeholder((a, b), "float32", name="tensor")
    made = te.create_prim_func([tensor, te.compute((a, b), lambda i, j: -tensor[i, j])])
    function = builder.add_func(made.without_attr("global_symbol"), "opposite")
    return builder.emit(
        relax.op.call_tir(function, [builder.emit(relax.op.exp(x))], tvm_api.type_of(x))
    )


PROGRAMS: whole.Programs = {
    "general_functions": {
        "fused calls": tuple(
            partial(
                whole.runs, opposite, shape, sizes=[size], want=np.full(size, -np.e), fused=True
            )
            for shape, size in (
                ((M, M), (2, 2)),
                ((M, M * 2), (2, 4)),
                ((2, 3), (2, 3)),
            )
        ),
    },
}

CURES: whole.Cures = {
    "call-tir-general-fused": (("general_functions", "fused calls"),),
}
