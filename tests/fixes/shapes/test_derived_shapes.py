"""Functions whose inputs have symbols only within their dimensions, compiled and run."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation, probes
from relaxcheck.fixes.shapes.derived import derived_shapes as derived_shapes
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

M, N = tvm_api.shape_var("m"), tvm_api.shape_var("n")


def ones(*dims: Any) -> Any:
    """Builds a tensor of ones of ``dims``, whatever its arguments."""
    return lambda *tensors: relax.op.full(
        relax.ShapeExpr(list(dims)), relax.const(1, "float32"), "float32"
    )


def built(program: Any, exec_mode: str = "bytecode", fused: bool = False) -> Any:
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    with installation.install([derived_shapes.FIX]):
        return compiled.build(program, exec_mode, fixes.pipeline(target if fused else None))


@pytest.mark.parametrize(
    ("shapes", "wanted", "sizes", "shape", "refused"),
    [
        (
            [(M * 2,)],
            (M, 3),
            [(4,)],
            (2, 3),
            {((7,),): "main: dimension 0 of input 'x0' must be m * 2 for an integer m, got 7"},
        ),
        (
            [(3, M + 1)],
            (M,),
            [(3, 1)],
            (0,),
            {
                ((3, 0),): "main: dimension 1 of input 'x0' must be m + 1 for an integer m >= 0,"
                " got 0"
            },
        ),
        (
            [(M + N,), (M,)],
            (N,),
            [(5,), (2,)],
            (3,),
            {
                ((1,), (2,)): "main: dimension 0 of input 'x0' must be m + n for an integer n >= 0,"
                " where m is 2, got 1"
            },
        ),
        (
            [(M * N,), (M,)],
            (N, M),
            [(6,), (2,)],
            (3, 2),
            {
                ((7,), (2,)): "main: dimension 0 of input 'x0' must be m * n for an integer n,"
                " where m is 2, got 7",
                ((0,), (0,)): "main: dimension 0 of input 'x0' is m * n, from which n cannot be"
                " found: m is 0",
            },
        ),
        (
            [(M * 2,), (M * 3,)],
            (M,),
            [(4,), (6,)],
            (2,),
            {((4,), (9,)): "main: dimension 0 of input 'x1' must be m * 3, where m is 2, got 9"},
        ),
    ],
)
def test_runs_and_refuses(
    shapes: Any, wanted: Any, sizes: Any, shape: Any, refused: dict[Any, str]
) -> None:
    run = built(probes.program(ones(*wanted), *shapes), fused=len(shapes) > 1)
    assert run(*map(np.zeros, sizes, ["float32"] * len(sizes))).shape == shape
    for refused_sizes, message in refused.items():
        with pytest.raises(AssertionError, match=compiled.whole(message)):
            run(*map(np.zeros, refused_sizes, ["float32"] * len(refused_sizes)))


def minus(x: Any, *others: Any) -> Any:
    return relax.op.negative(relax.op.abs(x))


def tvm_fuses_derived_dimensions() -> bool:
    """True if TVM fuses calls over them at all, with another input that has the plain symbol."""
    module = probes.program(minus, (M * 2, M + 1), (M,))
    try:
        relax.get_default_pipeline(compiled.TARGET)(module)
    except tvm.error.InternalError:
        return False
    return True


@pytest.mark.parametrize("fused", [False, True])
def test_the_input_itself_is_used(fused: bool) -> None:
    if fused and not tvm_fuses_derived_dimensions():
        pytest.skip("this TVM does not fuse calls over derived dimensions")
    run = built(probes.program(minus, (M * 2, M + 1)), "compiled", fused)
    array = compiled.sample((4, 3))
    np.testing.assert_array_equal(run(array), -abs(array))
    with pytest.raises(AssertionError, match=r"dimension 0 of input 'x0'.* where m is 3, got 4"):
        run(compiled.sample((4, 4)))


def test_results_have_the_symbols_of_the_inputs() -> None:
    x = relax.Var("x", tvm_api.tensor_type((M * 2, N), "float32"))
    returned = tvm_api.tensor_type((M * 2, N), "float32")
    function = relax.Function([x], relax.SeqExpr([], x), returned, True)
    module = tvm.IRModule({"main": function.with_attr("global_symbol", "main")})
    module = derived_shapes.PASS(relax.transform.Normalize()(module))
    relax.analysis.well_formed(module)
    dims = tvm_api_shapes.dims_of(tvm_api_functions.return_type(module["main"]))
    assert [tvm_api.show(dim) for dim in dims or []] == ["x_0 // 2 * 2", "n"]


def test_a_scalar_input_is_a_known_symbol() -> None:
    if hasattr(relax, "PrimStructInfo"):
        scalar = relax.Var("n", relax.PrimStructInfo(value=N))
        symbol = N
    else:
        scalar = symbol = relax.Var("n", tvm.ir.PrimType("int64"))
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type((M * symbol,), "float32"))
    with builder.function("main", [x, scalar]):
        builder.emit_func_output(builder.emit(ones(M)()))
    machine = compiled.machine(derived_shapes.PASS(builder.get()))
    tensor = tvm.runtime.tensor(np.zeros(6, "float32"))
    assert machine["main"](tensor, 2).numpy().shape == (3,)
    with pytest.raises(AssertionError, match="for an integer m, where n is 4, got 6"):
        machine["main"](tensor, 4)
    with pytest.raises(AssertionError, match="m cannot be found: n is 0"):
        machine["main"](tensor, 0)


def test_undeducible_symbols_are_refused_when_compiled() -> None:
    program = probes.program(relax.op.negative, (M // 5 - 1,))
    message = "main: m cannot be found from the inputs: dimension 0 of input 'x0' is m // 5 - 1"
    with pytest.raises(ValueError, match=message):
        built(program)


def test_tuples_and_shapes_are_inputs_too() -> None:
    pair = relax.TupleStructInfo if hasattr(relax, "TupleStructInfo") else relax.TupleType
    tensor = tvm_api.tensor_type((M * 2,), "float32")
    variable = relax.Var("t", pair([tensor, tvm_api_shapes.shape_type([N - 1])]))
    shape = relax.Var("s", tvm_api_shapes.shape_type([M + N]))
    builder = relax.BlockBuilder()
    with builder.function("main", [variable, shape]):
        builder.emit_func_output(builder.emit(ones(M, N)()))
    module = derived_shapes.PASS(builder.get())
    relax.analysis.well_formed(module)
    text = str(module)
    assert "dimension 0 of field 0 of input 't' must be m * 2, where m is" in text
    assert "value 0 of input 's' must be m + n" in text


@pytest.mark.parametrize("shapes", [[(M, M * 2)], [(M,), (M + N, N)], [(3, 4)]])
def test_a_function_that_tvm_compiles_is_left_alone(shapes: Any) -> None:
    program = probes.program(relax.op.negative, *shapes[:1])
    assert derived_shapes.PASS(program).same_as(program)


def test_a_pure_function_stays_pure_and_well_formed() -> None:
    module = derived_shapes.PASS(probes.program(relax.op.negative, (M * 2, M + N, N - 1)))
    relax.analysis.well_formed(module)
    main = module["main"]
    assert main.is_pure
    assert main.attrs["relax.force_pure"]


def test_this_tvm_needs_it() -> None:
    assert derived_shapes.FIX.needed()


PROGRAMS: whole.Programs = {
    "derived_shapes": {
        "symbols within dimensions": tuple(
            partial(
                whole.runs, whole.op(relax.op.nn.relu), *shapes, sizes=sizes, want=np.ones(sizes[0])
            )
            for shapes, sizes in (
                ([(whole.M * 2,)], [(4,)]),
                ([(whole.M + whole.N,), (whole.N,)], [(3,), (1,)]),
            )
        ),
    },
}

CURES: whole.Cures = {
    "derived-input-multiple": (("derived_shapes", "symbols within dimensions"),),
}
