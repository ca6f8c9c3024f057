"""Results of which TVM knows only the rank: given shapes, and slices that depend on values."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from tvm import relax, tirx

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.passes import fusion
from relaxcheck.fixes.shapes import dynamic_broadcast, known_results
from relaxcheck.fixes.shapes import shape_guard as shape_guard
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from tests.fixes import compiled
from tests.fixes import whole_programs as whole
from tests.fixes.shapes.test_known_rank import program

OP = relax.op
M, N = map(tvm_api.shape_var, "mn")


def tensor(*shape: Any) -> Any:
    return tvm_api.tensor_type(shape, "float32")


def built(module: Any, fused: bool) -> Any:
    # FuseTIR of 0.26 fails on a valid module.
    needed = [known_results.FIX, dynamic_broadcast.FIX, shape_guard.FIX, fusion.FIX]
    with installation.install(needed):
        pipeline = fixes.pipeline(compiled.TARGET if fused else None)
        return compiled.build(module, pipeline=pipeline)


def without_first_row(builder: Any, x: Any) -> Any:
    """``x`` without its first row."""
    bounds = [relax.const(np.array(bound), "int64") for bound in ([1, 0], [2**31 - 1] * 2, [1, 1])]
    return builder.emit(OP.dynamic_strided_slice(x, *bounds))


def twice_sliced(builder: Any, x: Any, y: Any) -> Any:
    """A slice of an operation on a slice, and both in one sum."""
    shifted = without_first_row(builder, builder.emit(OP.exp(without_first_row(builder, x))))
    return builder.emit(OP.add(shifted, y))


@pytest.mark.parametrize("fused", [False, True])
def test_slices(fused: bool) -> None:
    run = built(program(twice_sliced, tensor(M, 4), tensor(N, 4)), fused)
    for rows, others in ((5, 3), (3, 1), (5, 1), (2, 0)):
        x, y = compiled.sample((rows, 4)), compiled.sample((others, 4))
        np.testing.assert_allclose(run(x, y), np.exp(x[2:]) + y, rtol=1e-5)
    text = "add: dimensions dynamic_strided_slice_0 and n must be equal, or one of them 1, got 3"
    with pytest.raises(AssertionError, match=text):
        run(compiled.sample((5, 4)), compiled.sample((2, 4)))


MADE: dict[str, tuple[Any, Any]] = {
    "broadcast_to": (OP.broadcast_to, lambda y, shape: np.broadcast_to(y, shape)),
    "zeros": (lambda y, shape: OP.zeros(shape, "float32"), lambda y, shape: np.zeros(shape)),
    "resize2d": (
        lambda y, shape: OP.image.resize2d(y, shape, layout="NCHW"),
        lambda y, shape: np.broadcast_to(y, (1, 1, *shape)),
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_given_shapes(name: str) -> None:
    make, want = MADE[name]
    image = name == "resize2d"

    def body(builder: Any, x: Any, y: Any) -> Any:
        shape = builder.emit(OP.shape_of(x))
        result = builder.emit(make(y, shape))
        # It is lowered as well, as its operand has a shape.
        return builder.emit(OP.add(result, x))

    sizes = (1, 1) if not image else (1, 1, 1, 1)
    run = built(program(body, tensor(M, N), tensor(*sizes)), False)
    for shape in ((2, 3), (0, 3)):
        x, y = compiled.sample(shape), compiled.sample(sizes, seed=1)
        np.testing.assert_allclose(run(x, y), want(y, shape) + x, rtol=1e-5)


def test_shaped_and_unused_results_are_left_unchanged() -> None:
    def body(builder: Any, x: Any) -> Any:
        return without_first_row(
            builder, builder.emit(OP.zeros(relax.ShapeExpr([M, 2]), "float32"))
        )

    module = program(body, tensor(M))
    assert known_results.PASS(module).same_as(module)


def test_a_cast_of_a_shaped_value_leaves_the_symbols_of_the_inputs_unchanged() -> None:
    """The sum has symbols of its own, then the inputs'; later dimensions use only these."""

    def body(builder: Any, x: Any, y: Any) -> Any:
        result = builder.emit(OP.add(without_first_row(builder, x), y))
        result = builder.match_cast(result, tensor(M - 1, N))
        twos = builder.emit(
            OP.full(relax.ShapeExpr([M - 1, N]), relax.const(2, "float32"), "float32")
        )
        return builder.emit(OP.multiply(result, builder.emit(OP.add(twos, y))))

    run = built(program(body, tensor(M, N), tensor(M - 1, N)), False)
    x, y = compiled.sample((3, 4)), compiled.sample((2, 4), seed=1)
    np.testing.assert_allclose(run(x, y), (x[1:] + y) * (2 + y), rtol=1e-5)


def test_dimensions_that_are_proved_equal_but_not_by_tvm() -> None:
    fifth = tvm_api.floordiv(M, 5)
    places = tirx.min(fifth, tvm_api.floordiv(M - 1, 2) + 1)

    def body(builder: Any, x: Any, y: Any, z: Any) -> Any:
        return builder.emit(OP.nn.relu(builder.emit(OP.subtract(y, z))))

    run = built(program(body, tensor(M), tensor(fifth), tensor(places)), True)
    x, y, z = (compiled.sample((size,), seed=size) for size in (13, 2, 2))
    np.testing.assert_array_equal(run(x, y, z), np.maximum(y - z, 0))


def test_a_shape_that_is_known_only_after_broadcasting() -> None:
    def body(builder: Any, x: Any, y: Any, z: Any) -> Any:
        total = builder.emit(OP.add(x, y))
        return builder.emit(OP.broadcast_to(z, builder.emit(OP.shape_of(total))))

    run = built(program(body, tensor(M), tensor(N), tensor(1)), False)
    x, y, z = (compiled.sample((size,)) for size in (3, 1, 1))
    np.testing.assert_array_equal(run(x, y, z), np.broadcast_to(z, (3,)))


PART = tirx.min(tirx.max(M - 1, 0), M) - tirx.min(2, M)
"""The number of elements from the third to the last but one, of m."""

FOUND: dict[str, tuple[Any, Any, Any, list[tuple[int, Any, Any]]]] = {
    # The input's dimensions, the arguments of reshape, its result; at m, the first two of these.
    "nothing is left": ((PART,), (-1, M - 3), 1, [(4, (1,), (1, 1)), (6, (3,), (1, 3))]),
    "a factor": (
        (6 * (tvm_api.floordiv(M - 2, 5) + 1),),
        (-1, tvm_api.floordiv(M + 3, 5)),
        6,
        [(2, (6,), (6, 1)), (8, (12,), (6, 2))],
    ),
    "in the middle": ((4, PART, N), (4, -1, M - 3), N, [(5, (4, 2, 3), (4, 3, 2))]),
}


@pytest.mark.parametrize("name", FOUND)
def test_the_size_that_reshape_finds(name: str) -> None:
    """TVM writes it as a quotient of an expression that takes a pass to read."""
    dims, target, result, sizes = FOUND[name]

    def body(builder: Any, x: Any, y: Any) -> Any:
        return builder.emit(OP.nn.relu(builder.emit(OP.reshape(x, target))))

    module = program(body, tensor(*dims), tensor(M))
    typed = tvm_api.type_of(known_results.PASS(module)["main"]).ret
    assert tvm_api_shapes.alike(typed, tensor(*(result if dim == -1 else dim for dim in target)))
    for size, shape, want in sizes:
        x, y = compiled.sample(shape), compiled.sample((size,))
        np.testing.assert_array_equal(built(module, False)(x, y), np.maximum(x.reshape(want), 0))


def test_a_quotient_that_is_not_known_stays() -> None:
    def body(builder: Any, x: Any, y: Any) -> Any:
        return builder.emit(OP.nn.relu(builder.emit(OP.reshape(x, (-1, M)))))

    module = program(body, tensor(N), tensor(M))
    assert known_results.PASS(module).same_as(module)


@pytest.mark.parametrize("target", [(-1, 4), (tvm_api.floordiv(N, M), 4)])
def test_a_quotient_that_is_found_again_stays(target: Any) -> None:
    def body(builder: Any, x: Any, y: Any) -> Any:
        return builder.emit(OP.nn.relu(builder.emit(OP.reshape(x, target))))

    module = program(body, tensor(tvm_api.floordiv(N, M), 4), tensor(N, M))
    once = known_results.PASS(module)
    assert known_results.PASS(once).same_as(once)


def stretched(builder: Any, x: Any, y: Any) -> Any:
    return builder.emit(relax.op.broadcast_to(y, builder.emit(relax.op.shape_of(x))))


def sliced(builder: Any, x: Any, y: Any) -> Any:
    bounds = [relax.const(np.array([value]), "int64") for value in (1, 3, 1)]
    result = builder.emit(relax.op.dynamic_strided_slice(x, *bounds))
    return builder.emit(relax.op.multiply(result, y))


def in_rows(builder: Any, x: Any) -> Any:
    """A slice of three elements less than ``x`` as rows of as many: one."""
    part = builder.emit(relax.op.strided_slice(x, [0], [2], [-1]))
    return builder.emit(relax.op.exp(builder.emit(relax.op.reshape(part, (-1, whole.M - 3)))))


PROGRAMS: whole.Programs = {
    "known_results": {
        "given shapes": (
            partial(
                whole.runs,
                stretched,
                (whole.M, 3),
                (1, 3),
                sizes=[(2, 3), (1, 3)],
                want=np.ones((2, 3)),
            ),
        ),
        "slices": (partial(whole.runs, sliced, (3,), (whole.M,), sizes=[(3,), (2,)], want=[1, 1]),),
        "sizes that reshape finds": (
            partial(whole.runs, in_rows, (whole.M,), sizes=[(6,)], want=np.full((1, 3), np.e)),
        ),
    },
}

CURES: whole.Cures = {
    "slice-of-values-unlowered": (("known_results", "slices"),),
    "reshape-finds-a-size": (("known_results", "sizes that reshape finds"),),
    "shape-of-broadcast": (("known_results", "given shapes"),),
}
