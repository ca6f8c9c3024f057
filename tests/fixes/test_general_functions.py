"""Functions of TIR that have more dimensions of their own than their calls tell apart."""

from typing import Any

import numpy as np
import pytest
from tvm import relax, te

import fixes
from fixes import general_functions, tvm_api
from tests.fixes import compiled
from tests.fixes.whole_dynamic_programs import K, M, N, general

OP = relax.op


def lowered(shape: Any) -> Any:
    """The module of ``general`` on a tensor of ``shape``, before it is fused."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type(shape, "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            output = builder.emit_output(general(builder, x))
        builder.emit_func_output(output)
    module = relax.transform.LegalizeOps()(builder.get())
    return relax.transform.AnnotateTIROpPattern()(module)


@pytest.mark.parametrize("shape", [(M, N), (N, K)])
def test_what_is_only_renamed_is_fused(shape: Any) -> None:
    module = lowered(shape)
    assert general_functions.PASS(module).same_as(module)


@pytest.mark.parametrize("shape", [(M, M), (M, M * 2), (M, M + 1), (M, 3), (2, 3)])
def test_what_is_less_general_is_not(shape: Any) -> None:
    module = lowered(shape)
    passed = general_functions.PASS(module)
    assert int(passed["opposite"].attrs["op_pattern"]) == 8
    # What TVM lowers is made for the call that it is in.
    (made,) = {one.name_hint for one in module.get_global_vars()} - {"main", "opposite"}
    assert passed[made].same_as(module[made])


def test_values() -> None:
    with fixes.installation.install([general_functions.FIX]):
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
