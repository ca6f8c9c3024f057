"""Sizes that do not go together are refused at run time, with everything known about them."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation, probes
from relaxcheck.fixes.shapes import shape_guard as shape_guard
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

M, N, K = map(tvm_api.shape_var, "mnk")


def built(program: Any, fused: bool = False, exec_mode: str = "bytecode") -> Any:
    """``program`` with the guard alone, compiled: from sizes to the shape of its result."""
    relax.analysis.well_formed(shape_guard.PASS(program))
    target = compiled.TARGET if fused else None
    with installation.install([shape_guard.FIX]):
        run = compiled.build(program, exec_mode, fixes.pipeline(target))
    return lambda *sizes: run(*(compiled.sample(size) for size in sizes)).shape


def refused(message: str) -> Any:
    return pytest.raises(AssertionError, match=compiled.whole(message))


@pytest.mark.parametrize("exec_mode", ["bytecode", "compiled"])
def test_dimensions_values_and_inputs_are_named(exec_mode: str) -> None:
    run = built(probes.program(relax.op.matmul, (M, K), (N, 3)), exec_mode == "compiled", exec_mode)
    assert run((2, 4), (4, 3)) == (2, 3)
    with refused(
        "main: matmul: contracted dimensions k and n must be equal, got 4 and 5"
        " (k is dimension 1 of input 'x0', n is dimension 0 of input 'x1')"
    ):
        run((2, 4), (5, 3))


def test_a_derived_dimension_is_named_by_what_it_is() -> None:
    module = probes.program(lambda x: relax.op.reshape(x, (-1, 4)), (M * 3,))
    text = str(shape_guard.PASS(module)).replace("\\'", "'")
    assert "(m * 3) and (m * 3 // 4, 4) must have as many elements, got {} and {}" in text
    assert "(m * 3 is dimension 0 of input 'x0')" in text


def in_mid_function(dataflow: bool) -> Any:
    """The product of x and of y, whose shape a match_cast defines."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type((M, 3), "float32"))
    y = relax.Var("y", tvm_api.unshaped_type(2, "float32"))

    def body() -> Any:
        left = builder.emit(relax.op.nn.relu(x))
        right = builder.match_cast(y, tvm_api.tensor_type((N, K), "float32"))
        return builder.emit(relax.op.matmul(left, right))

    with builder.function("main", [x, y]):
        if dataflow:
            with builder.dataflow():
                result = builder.emit_output(relax.op.nn.relu(body()))
        else:
            result = body()
        builder.emit_func_output(result)
    return builder.get()


@pytest.mark.parametrize("dataflow", [False, True])
def test_symbols_bound_in_mid_function_are_checked_there(dataflow: bool) -> None:
    run = built(in_mid_function(dataflow), fused=dataflow)
    assert run((2, 3), (3, 5)) == (2, 5)
    with refused("main: matmul: contracted dimensions 3 and n must be equal, got 3 and 4"):
        run((2, 3), (4, 5))


def test_dataflow_bindings_stay_in_dataflow() -> None:
    text = str(shape_guard.PASS(in_mid_function(dataflow=True)))
    head, _, tail = text.partition("R.assert_op")
    assert "R.dataflow" in head
    assert "R.dataflow" in tail


def test_a_branch_that_is_not_taken_is_not_checked() -> None:
    wanted = tvm_api.tensor_type((M, 3), "float32")
    x = relax.Var("x", tvm_api.tensor_type((M, K), "float32"))
    unknown = relax.Var("y", tvm_api.unshaped_type(2, "float32"))
    y = relax.Var("y", tvm_api.tensor_type((N, 3), "float32"))
    which = relax.Var("which", tvm_api.tensor_type((), "bool"))

    def branch(value: Any) -> Any:
        result = relax.Var("b", wanted)
        binding = relax.VarBinding(result, relax.BlockBuilder().normalize(value))
        return relax.SeqExpr([relax.BindingBlock([binding])], result)

    zeros = relax.op.zeros(relax.ShapeExpr([M, 3]), "float32")
    choice = relax.If(which, branch(relax.op.matmul(x, y)), branch(zeros))
    result = relax.Var("r", wanted)
    nothing = relax.VarBinding(relax.Var("x1", tvm_api.type_of(x)), x)
    cast_to = relax.MatchCast(y, unknown, tvm_api.type_of(y))
    blocks = [relax.BindingBlock([nothing, cast_to, relax.VarBinding(result, choice)])]
    function = relax.Function([which, x, unknown], relax.SeqExpr(blocks, result), wanted, True)
    module = tvm.IRModule({"main": function.with_attr("global_symbol", "main")})
    guarded = shape_guard.PASS(relax.transform.Normalize()(module))
    relax.analysis.well_formed(guarded)
    run = compiled.build(guarded)
    x_array, y_array = compiled.sample((2, 3)), compiled.sample((4, 3))
    assert not run(np.array(False), x_array, y_array).any()
    with pytest.raises(AssertionError, match=r"main: matmul: .* got 3 and 4"):
        run(np.array(True), x_array, y_array)


def cast(dims: Any, wanted: Any) -> Any:
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type(dims, "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            matched = builder.match_cast(x, tvm_api.tensor_type(wanted, "float32"))
            result = builder.emit_output(relax.op.negative(matched))
        builder.emit_func_output(result)
    return builder.get()


@pytest.mark.parametrize(
    ("dims", "wanted", "size", "other", "message"),
    [
        ((M, N), (N, M), (2, 2), (2, 3), "0, which is m, must be n, got 2 and 3"),
        ((M, N), (K, K + 1), (2, 3), (2, 2), "1, which is n, must be k + 1, got 2 and 3"),
        ((M * 2, M), (M, K), (0, 0), (4, 2), "0, which is m * 2, must be m, got 4 and 2"),
    ],
)
@pytest.mark.parametrize("fused", [False, True])
def test_a_cast_is_checked(
    dims: Any, wanted: Any, size: Any, other: Any, message: str, fused: bool
) -> None:
    run = built(cast(dims, wanted), fused)
    assert run(size) == size
    with pytest.raises(AssertionError) as caught:
        run(other)
    assert str(caught.value).startswith(f"main: match_cast: dimension {message} (")


def test_casts_that_are_put_together_again_are_not_left_so() -> None:
    """One of two outputs of a dataflow block is a cast: canonicalization joins two casts."""

    def body(builder: Any, x: Any) -> Any:
        with builder.dataflow():
            cut = builder.emit(relax.op.strided_slice(x, [0], [0], [2**31 - 1], [1]))
            result = builder.match_cast(cut, tvm_api.tensor_type((M,), "float32"))
            results = [builder.emit_output(each) for each in (result, relax.op.negative(x))]
        return relax.Tuple(results)

    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type((M,), "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(body(builder, x))
    with installation.install([shape_guard.FIX]):
        machine = compiled.machine(builder.get(), relax_pipeline=fixes.pipeline(compiled.TARGET))
    array = compiled.sample((3,))
    result = machine["main"](tvm.runtime.tensor(array))
    for each, wanted in zip(result, (array, -array), strict=True):
        np.testing.assert_array_equal(each.numpy(), wanted)


def test_impossible_shapes_are_refused_when_compiled() -> None:
    with pytest.raises(
        ValueError, match="main: match_cast: dimension 0, which is m \\+ 1, must be m"
    ):
        built(cast((M + 1, M), (M, K)))


@pytest.mark.parametrize(
    "program",
    [
        probes.program(relax.op.matmul, (M, K), (K, 3)),
        probes.program(relax.op.nn.relu, (M,)),
        cast((M, N), (M, K)),
    ],
)
def test_proved_shapes_are_left_unchanged(program: Any) -> None:
    assert shape_guard.PASS(program).same_as(program)


@pytest.mark.parametrize(
    ("extent", "message"),
    [
        (M - M - 3, "main: zeros: the dimension -3 must be at least 0, got -3"),
        (M % 2 - 3, "dimension m % 2 - 3 must be at least 0, got m % 2 - 3, at most -2"),
        (N - M - N - 1, "got n - m - n - 1, at most -1"),
    ],
)
def test_an_extent_that_is_always_negative_is_refused_with_a_number(
    extent: Any, message: str
) -> None:
    program = probes.program(lambda x: relax.op.zeros((extent, 2), "float32"), (M, N))
    with pytest.raises(ValueError, match=re.escape(message)):
        shape_guard.PASS(program)


def test_this_tvm_needs_it() -> None:
    assert shape_guard.FIX.needed()


def test_a_cast_to_what_the_type_is_already_is_left_away() -> None:
    """LegalizeOps types the slice as max(m, 0), which is then cast to a symbol of its own."""

    def body(builder: Any, x: Any) -> Any:
        cut = builder.emit(relax.op.strided_slice(x, [0], [0], [M], [1]))
        result = builder.match_cast(cut, tvm_api.tensor_type((M, 4), "float32"))
        return builder.emit(relax.op.nn.relu(result))

    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type((M, 4), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            result = builder.emit_output(body(builder, x))
        builder.emit_func_output(result)
    guarded = shape_guard.PASS(builder.get())
    assert "match_cast" not in str(guarded)
    array = compiled.sample((3, 4))
    np.testing.assert_array_equal(compiled.build(guarded)(array), array.clip(0))


def test_a_scalar_input_may_be_negative() -> None:
    """If it were a size, no check would be needed that n + 2 elements suffice for a window."""
    if hasattr(relax, "PrimStructInfo"):
        scalar = relax.Var("n", relax.PrimStructInfo(value=N))
        symbol = N
    else:
        scalar = symbol = relax.Var("n", tvm.ir.PrimType("int64"))
    x = relax.Var("x", tvm_api.tensor_type((1, 1, M), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x, scalar]):
        cut = builder.match_cast(x, tvm_api.unshaped_type(3, "float32"))
        cut = builder.match_cast(cut, tvm_api.tensor_type((1, 1, symbol + 2), "float32"))
        builder.emit_func_output(builder.emit(relax.op.nn.max_pool1d(cut, (2,))))
    text = "the dimension n + 2 must be large enough for the window"
    assert text in str(shape_guard.PASS(builder.get()))
    sized = probes.program(lambda y: relax.op.nn.max_pool1d(y, (2,)), (1, 1, N + 2))
    assert text not in str(shape_guard.PASS(sized))


def cast_to(wanted: Any) -> Callable[..., Any]:
    def body(builder: Any, x: Any) -> Any:
        result = builder.match_cast(x, tvm_api.tensor_type(wanted, "float32"))
        return builder.emit(relax.op.nn.relu(result))

    return body


PROGRAMS: whole.Programs = {
    "shape_guard": {
        "products": (
            partial(
                whole.refuses,
                whole.op(relax.op.matmul),
                (2, whole.K),
                (whole.N, 3),
                sizes=[(2, 2), (3, 3)],
            ),
        ),
        "channels": (
            partial(
                whole.refuses,
                whole.op(relax.op.nn.conv1d),
                (1, whole.M, 4),
                (2, whole.N, 2),
                sizes=[(1, 1, 4), (2, 2, 2)],
            ),
        ),
        "windows": (
            partial(
                whole.refuses,
                whole.op(lambda x: relax.op.nn.max_pool1d(x, (3,))),
                (1, 1, whole.N),
                sizes=[(1, 1, 2)],
            ),
        ),
        "reshapes": (
            partial(
                whole.refuses,
                whole.op(lambda x: relax.op.reshape(x, (-1, 4))),
                (whole.M, whole.N),
                sizes=[(3, 3)],
            ),
        ),
        "extents": (
            partial(
                whole.tells,
                "-2",
                whole.op(lambda x: relax.op.ones((whole.N - 5,), "int8")),
                (whole.N,),
                3,
            ),
        ),
        "casts": (
            partial(whole.refuses, cast_to((whole.N, whole.M)), (whole.M, whole.N), sizes=[(2, 3)]),
        ),
        "casts to own symbols": (
            partial(
                whole.runs,
                cast_to((whole.M, whole.K)),
                (whole.M * 2, whole.M),
                sizes=[(0, 0)],
                want=np.ones((0, 0)),
            ),
        ),
    },
}

CURES: whole.Cures = {
    "extent-negative": (("shape_guard", "extents"),),
    "match-cast-own-symbol": (("shape_guard", "casts to own symbols"),),
    "match-cast-slice": (("shape_guard", "casts to own symbols"),),
}
