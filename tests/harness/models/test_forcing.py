"""Cutting programs out of imported ones."""

import numpy as np
import pytest
import torch
import tvm
from torch import nn
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api.shapes import dims_of, name_of
from relaxcheck.harness.models.compiling import Way, compiled, run
from relaxcheck.harness.models.forcing import bindings, forced, operands, unique
from relaxcheck.harness.models.frontends.torch import imported
from tests.harness.models.small import exported


class Chain(nn.Module):
    """Halves of a reshaped operand, one of them reduced."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        left, right = torch.split(x.reshape(x.shape[0] * 2, -1), [2, 2], 1)
        return left.exp() + right.sum()


PLAIN = Way("build", plain=True)


def names(module: tvm.IRModule) -> list[str]:
    return [name_of(each.var) for each in bindings(module)]


@pytest.fixture(scope="module")
def module() -> tvm.IRModule:
    return imported(exported(Chain(), torch.ones(2, 8), batch=True)).imported.module


def test_operands_at_borders_become_inputs_and_every_border_an_output(module: tvm.IRModule) -> None:
    every = names(module)
    part = forced(module, every)
    tuples = {
        n for n, b in zip(every, bindings(module), strict=True) if not tvm_api.is_tensor(b.var)
    }
    assert set(part.outputs) == set(every) - tuples
    assert part.inputs[0] == "x"
    # The last step is no operand of any other.
    assert set(part.inputs[1:]) < set(part.outputs)
    assert len(part.module["main"].params) == len(part.inputs)


def test_a_forced_program_computes_on_what_it_is_given(module: tvm.IRModule) -> None:
    exponential = next(name_of(each.var) for each in bindings(module) if "R.exp" in str(each.value))
    (operand,) = operands(module)[exponential]
    part = forced(module, names(module), only=[exponential])
    assert operand in part.inputs
    given = np.full((4, 2), 2.0, np.float32)
    values = {"x": np.zeros((2, 8), np.float32), operand: given}
    (result,) = run(compiled(part.module, PLAIN), [values[name] for name in part.inputs])
    np.testing.assert_allclose(result, np.exp(given), rtol=1e-6)


def test_without_forcing_everything_before_is_kept(module: tvm.IRModule) -> None:
    last = [name for name in names(module) if name in forced(module, names(module)).outputs][-1]
    part = forced(module, names(module), only=[last], force=False)
    assert part.inputs == ("x",)
    x = np.arange(16, dtype=np.float32).reshape(2, 8) / 8
    (result,) = run(compiled(part.module, PLAIN), [x])
    np.testing.assert_allclose(result, Chain()(torch.from_numpy(x)).numpy(), rtol=1e-6)


def test_dead_bindings_and_parameters_are_dropped() -> None:
    x, y = (relax.Var(name, tvm_api.tensor_type((2,), "float32")) for name in "xy")
    builder = relax.BlockBuilder()
    with builder.function("main", [x, y]):
        with builder.dataflow():
            first = builder.emit(relax.op.exp(x), "first")
            second = builder.emit(relax.op.abs(y), "second")
            result = builder.emit_output(relax.op.add(first, second))
        builder.emit_func_output(result)
    part = forced(builder.get(), ("first", "second"), only=["second"])
    assert (part.inputs, part.outputs) == (("y",), ("second",))
    assert len(bindings(part.module)) == 2


def counted() -> tvm.IRModule:
    """A program whose symbol ``n`` only a match_cast defines."""
    n = tvm_api.shape_var("n")
    x = relax.Var("x", tvm_api.tensor_type((4, 8), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            found = builder.emit(relax.op.nonzero(x), "found")
            cast = builder.match_cast(found, tvm_api.tensor_type((2, n), "int64"), "cast")
            twice = builder.emit(relax.op.concat([cast, cast], axis=1), "twice")
            result = builder.emit_output(relax.op.abs(twice), "result")
        builder.emit_func_output(result)
    return builder.get()


def test_a_symbol_that_a_cast_defines_comes_from_the_shape_of_an_input() -> None:
    part = forced(counted(), ("found", "cast", "twice"), only=["twice"])
    assert part.inputs == ("cast",)
    (dim,) = dims_of(tvm_api.type_of(part.module["main"].params[0]))[1:]
    assert tvm_api.is_variable(dim)
    values = np.arange(6).reshape(2, 3)
    (result,) = run(compiled(part.module, PLAIN), [values])
    np.testing.assert_array_equal(result, np.concatenate([values, values], 1))


def test_a_border_whose_symbol_nothing_else_defines_is_computed() -> None:
    # Of (2, 2*n) alone n does not follow: the cast before it stays, and its operand is forced.
    part = forced(counted(), ("found", "twice"), only=["result"])
    assert part.inputs == ("found",)
    assert "R.match_cast" in str(part.module)


def test_an_unknown_output_is_refused(module: tvm.IRModule) -> None:
    with pytest.raises(KeyError, match="main has no variable nothing"):
        forced(module, (), only=["nothing"])


def test_variables_of_one_name_get_different_ones() -> None:
    kind = tvm_api.tensor_type((2,), "float32")
    x, first, second = relax.Var("x", kind), relax.Var("v", kind), relax.Var("v", kind)
    bound = [
        relax.VarBinding(first, relax.op.exp(x)),
        relax.VarBinding(second, relax.op.abs(first)),
    ]
    body = relax.SeqExpr([relax.BindingBlock(bound)], second)
    module = relax.transform.Normalize()(tvm.IRModule({"main": relax.Function([x], body, kind)}))
    renamed, _ = unique(module)
    assert names(renamed) == ["v", "v_1"]
    (result,) = run(compiled(renamed, PLAIN), [np.array([-1, 1], np.float32)])
    np.testing.assert_allclose(result, np.exp([-1, 1]), rtol=1e-6)


def test_an_argument_that_is_a_symbol_keeps_what_defines_it() -> None:
    size = tvm_api.shape_var("n")
    x = relax.Var("x", tvm_api.tensor_type([size], "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            places = builder.emit(relax.op.arange(0, size, 1, "int64"), "places")
            output = builder.emit_output(builder.emit(relax.op.negative(places), "negated"))
        builder.emit_func_output(output)
    part = forced(builder.get(), ["places", "negated"], only=["places"])
    assert part.inputs == ("x",)
