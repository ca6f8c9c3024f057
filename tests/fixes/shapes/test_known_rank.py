"""Inputs of known rank and unknown shape."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation, probes
from relaxcheck.fixes.shapes import known_rank
from relaxcheck.fixes.shapes import shape_guard as shape_guard
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op
K = tvm_api.shape_var("k")


def program(body: Any, *types: Any, names: str = "xyz") -> Any:
    builder = relax.BlockBuilder()
    parameters = [relax.Var(name, type_) for name, type_ in zip(names, types, strict=False)]
    with builder.function("main", parameters):
        with builder.dataflow():
            result = builder.emit_output(body(builder, *parameters))
        builder.emit_func_output(result)
    return builder.get()


def unknown(rank: int) -> Any:
    return tvm_api.unshaped_type(rank, "float32")


def product(builder: Any, x: Any, y: Any) -> Any:
    return builder.emit(OP.matmul(builder.emit(OP.nn.relu(x)), y))


@pytest.mark.parametrize("fused", [False, True])
def test_runs_at_any_size_that_fits(fused: bool) -> None:
    module = program(product, unknown(2), unknown(2))
    with installation.install([known_rank.FIX, shape_guard.FIX]):
        run = compiled.build(module, pipeline=fixes.pipeline(compiled.TARGET if fused else None))
    for m, k, n in ((2, 3, 4), (1, 1, 5)):
        x, y = compiled.sample((m, k)), compiled.sample((k, n))
        np.testing.assert_allclose(run(x, y), np.maximum(x, 0) @ y, atol=1e-5)
    text = "main: matmul: contracted dimensions x_1 and y_0 must be equal, got 3 and 2 "
    with pytest.raises(AssertionError, match=text):
        run(compiled.sample((2, 3)), compiled.sample((2, 4)))


def test_a_match_cast_still_finds_its_symbols() -> None:
    def body(builder: Any, x: Any) -> Any:
        result = builder.match_cast(x, tvm_api.tensor_type((K, 3), "float32"))
        return builder.emit(
            OP.add(result, builder.emit(OP.zeros(relax.ShapeExpr([K, 1]), "float32")))
        )

    module = known_rank.PASS(program(body, unknown(2)))
    relax.analysis.well_formed(module)
    array = compiled.sample((2, 3))
    np.testing.assert_array_equal(compiled.build(module)(array), array)


def test_fields_of_tuples_and_values_of_shapes_are_named_too() -> None:
    tuples = relax.TupleStructInfo if hasattr(relax, "TupleStructInfo") else relax.TupleType
    shape = tvm_api_shapes.unshaped_like(tvm_api_shapes.shape_type([K, K]))

    def body(builder: Any, x: Any, y: Any) -> Any:
        return builder.emit(OP.nn.relu(builder.emit(relax.TupleGetItem(x, 1))))

    variable = tuples([tvm_api.tensor_type((K,), "float32"), unknown(2)])
    main = known_rank.PASS(program(body, variable, shape))["main"]
    results = [
        [str(dim) for _, _, dim in tvm_api_shapes.dims_within(tvm_api.type_of(parameter))]
        for parameter in main.params
    ]
    assert results == [["k", "x_1_0", "x_1_1"], ["y_0", "y_1"]]
    assert [str(dim) for dim in tvm_api.shape_of(main.body.body)] == ["x_1_0", "x_1_1"]


def test_the_calls_that_follow_have_shapes() -> None:
    module = known_rank.PASS(program(product, unknown(2), unknown(2)))
    relax.analysis.well_formed(module)
    main = module["main"]
    assert [str(dim) for dim in tvm_api.shape_of(main.body.body)] == ["x_0", "y_1"]
    assert str(tvm_api_functions.return_type(main)).count("x_0") == 1


def test_unknown_ranks_and_known_shapes_are_left_alone() -> None:
    for module in (
        program(lambda builder, x: builder.emit(OP.nn.relu(x)), unknown(-1)),
        probes.program(OP.nn.relu, (K, 3)),
    ):
        assert known_rank.PASS(module).same_as(module)


def test_this_tvm_needs_it() -> None:
    assert known_rank.FIX.needed()


PROGRAMS: whole.Programs = {
    "known_rank": {
        "tensors": (
            partial(
                whole.runs, whole.op(relax.op.nn.relu), 2, sizes=[(2, 3)], want=np.ones((2, 3))
            ),
        ),
    },
}
