"""A fused call stands after the match_cast that defines its dimensions."""

import inspect
from functools import partial
from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.shapes import shape_order as shape_order
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

M, K = tvm_api.shape_var("m"), tvm_api.shape_var("k")
OP = relax.op


def repeated(builder: Any, x: Any, y: Any) -> Any:
    before = builder.emit(OP.negative(x))
    builder.match_cast(y, tvm_api.tensor_type((K,), "float32"))
    return builder.emit(OP.abs(builder.emit(OP.broadcast_to(before, relax.ShapeExpr([K, M])))))


def summed(builder: Any, x: Any, y: Any) -> Any:
    before = builder.emit(OP.negative(x))
    builder.match_cast(y, tvm_api.tensor_type((K,), "float32"))
    ones = builder.emit(OP.full(relax.ShapeExpr([K, M]), relax.const(1, "float32"), "float32"))
    return builder.emit(OP.sum(builder.emit(OP.add(ones, before)), axis=[0]))


def chained(builder: Any, x: Any, y: Any) -> Any:
    """The fused call needs something computed from the cast's result."""
    before = builder.emit(OP.negative(x))
    result = builder.match_cast(y, tvm_api.tensor_type((K,), "float32"))
    column = builder.emit(OP.expand_dims(builder.emit(OP.exp(result)), 1))
    return builder.emit(OP.add(builder.emit(OP.expand_dims(before, 0)), column))


def divided(builder: Any, x: Any, y: Any) -> Any:
    """Items of a tuple need it."""
    parts = builder.emit(OP.split(x, 2))
    items = [builder.emit(relax.TupleGetItem(parts, number)) for number in range(2)]
    return builder.emit(OP.concat(items, 0))


def cast_twice(builder: Any, x: Any, y: Any) -> Any:
    """The second cast is to twice the first one's symbol."""
    builder.match_cast(y, tvm_api.tensor_type((K,), "float32"))
    twice = builder.match_cast(x, tvm_api.tensor_type((K * 2,), "float32"))
    return builder.emit(OP.exp(twice))


def counted(builder: Any, x: Any, y: Any) -> Any:
    """The number that a cast defines, as an argument of a call whose type does not contain it."""
    builder.match_cast(y, tvm_api.tensor_type((K,), "float32"))
    wrapped = getattr(relax, "PrimValue", lambda value: value)
    kind = tvm_api.tensor_type((1,), "float32")
    return builder.emit(OP.call_pure_packed("counted", wrapped(K * 2), **type_keyword(kind)))


def type_keyword(kind: Any) -> dict[str, Any]:
    """The type of a packed call's result, in terms of its argument's symbol."""
    names = inspect.signature(OP.call_pure_packed).parameters
    return {next(name for name in ("ty_args", "sinfo_args") if name in names): kind}


def program(body: Any) -> Any:
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type((M,), "float32"))
    y = relax.Var("y", tvm_api.unshaped_type(1, "float32"))
    with builder.function("main", [x, y]):
        with builder.dataflow():
            result = builder.emit_output(body(builder, x, y))
        builder.emit_func_output(result)
    return builder.get()


@pytest.mark.parametrize(
    ("body", "reference"),
    [
        (repeated, lambda x, y: np.abs(np.broadcast_to(-x, (len(y), len(x))))),
        (summed, lambda x, y: len(y) * (1 - x)),
        (chained, lambda x, y: -x + np.exp(y)[:, None]),
    ],
)
def test_values(body: Any, reference: Any) -> None:
    x, y = compiled.sample((3,)), compiled.sample((2,))
    with installation.install([shape_order.FIX]):
        # TVM's own pipeline fuses as well, and has no passes of the fixes.
        for make in (fixes.pipeline, relax.get_default_pipeline):
            run = compiled.build(program(body), pipeline=make(compiled.TARGET))
            np.testing.assert_allclose(run(x, y), reference(x, y), rtol=1e-5)


def swapped(module: Any, block: Any) -> Any:
    """``module`` with the bindings of its one block in reverse."""
    function = module["main"]
    bindings = list(reversed(function.body.blocks[0].bindings))
    module = module.clone()
    module.update_func(
        module.get_global_var("main"),
        tvm_api_functions.rebuilt(function, [block(bindings)]),
    )
    return module


def test_an_order_that_fits_is_left() -> None:
    module = program(chained)
    assert shape_order.PASS(module).same_as(module)


@pytest.mark.parametrize("body", [chained, divided, cast_twice])
def test_any_order_is_mended_within_dataflow(body: Any) -> None:
    module = program(body)
    mended = shape_order.PASS(swapped(module, relax.DataflowBlock))
    assert relax.analysis.well_formed(mended) is not False


def test_a_number_is_deduced_before_it_is_used() -> None:
    mended = shape_order.PASS(swapped(program(counted), relax.DataflowBlock))
    assert isinstance(mended["main"].body.blocks[0].bindings[0], relax.MatchCast)


def test_bindings_that_may_have_effects_are_left() -> None:
    module = swapped(program(chained), relax.BindingBlock)
    assert shape_order.PASS(module).same_as(module)


def test_this_tvm_needs_it() -> None:
    assert shape_order.FIX.needed()


def repeated_after_cast(builder: Any, x: Any, y: Any) -> Any:
    before = builder.emit(relax.op.exp(relax.op.negative(x)))
    builder.match_cast(y, tvm_api.tensor_type((whole.K,), "float32"))
    ones = builder.emit(
        relax.op.full(relax.ShapeExpr([whole.K, whole.M]), relax.const(2, "float32"), "float32")
    )
    return builder.emit(relax.op.multiply(ones, before))


PROGRAMS: whole.Programs = {
    "shape_order": {
        "fused calls": (
            partial(
                whole.runs,
                repeated_after_cast,
                (whole.M,),
                1,
                sizes=[(3,), (2,)],
                want=np.full((2, 3), 2 * np.exp(-1)),
                fused=True,
            ),
        ),
    },
}

CURES: whole.Cures = {
    "order-after-fusion": (("shape_order", "fused calls"),),
}
