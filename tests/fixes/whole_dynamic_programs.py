"""Whole programs over symbolic shapes that fail where a part of a fault is there."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, te

from fixes import tvm_api
from tests.fixes import compiled

OP = relax.op
M, N, K = map(tvm_api.shape_var, "mnk")


def runs(make: Any, *shapes: Any, sizes: Any, want: Any, fused: bool = False) -> None:
    """The program compiles, and returns ``want`` of inputs of ones."""
    builder = relax.BlockBuilder()
    types = [
        tvm_api.unshaped_type(shape, "float32")
        if isinstance(shape, int)
        else tvm_api.tensor_type(shape, "float32")
        for shape in shapes
    ]
    given = [relax.Var(f"x{number}", type_) for number, type_ in enumerate(types)]
    with builder.function("main", given):
        with builder.dataflow():
            result = builder.emit_output(make(builder, *given))
        builder.emit_func_output(result)
    pipeline = relax.get_default_pipeline(compiled.TARGET) if fused else "default"
    found = compiled.build(builder.get(), pipeline=pipeline)(*(np.ones(s, "f4") for s in sizes))
    np.testing.assert_allclose(found, want)


def refuses(make: Any, *shapes: Any, sizes: Any) -> None:
    """The program fails at these sizes, when it is compiled or when it runs."""
    with pytest.raises((ValueError, AssertionError, RuntimeError, tvm.error.InternalError)):
        runs(make, *shapes, sizes=sizes, want=None)


def tells(said: str, make: Any, shape: Any, size: int) -> None:
    """The program of one input fails at this size by an error that says so."""
    with pytest.raises((AssertionError, RuntimeError, tvm.error.InternalError), match=said):
        runs(make, shape, sizes=[(size,)], want=None)


def op(make: Any) -> Callable[..., Any]:
    return lambda builder, *given: builder.emit(make(*given))


def writes(make: Any, *shapes: Any, sizes: Any, output: Any) -> None:
    """Every element of the output of what is lowered is written, or it fails."""
    module = relax.transform.LegalizeOps()(compiled.module(make, *shapes))
    (name,) = (one.name_hint for one in module.get_global_vars() if one.name_hint != "main")
    try:
        found = tvm_api.compiled(module[name])(
            *(np.ones(size, "f4") for size in sizes), np.full(output, 7, "f4")
        )
    except ValueError:
        return
    assert not (found == 7).any()


def gathers(index: Callable[[Any, Any], Any], extent: Any = N) -> None:
    """A kernel whose element i is element ``index(i, n)`` of its input runs, at two sizes.

    At one alone where ``extent`` is a number.
    """
    x = relax.Var("x", tvm_api.tensor_type((extent,), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):

        def compute(data: Any) -> Any:
            return te.compute((extent,), lambda i: data[index(i, extent)], "gathered")

        builder.emit_func_output(builder.emit_te(compute, x))
    run = compiled.build(builder.get())
    for size in (4, 5) if extent is N else (extent,):
        want = [index(i, size) for i in range(size)]
        np.testing.assert_array_equal(run(np.arange(size, dtype="f4")), want)


def cast(wanted: Any) -> Callable[..., Any]:
    def body(builder: Any, x: Any) -> Any:
        found = builder.match_cast(x, tvm_api.tensor_type(wanted, "float32"))
        return builder.emit(OP.nn.relu(found))

    return body


def repeated(builder: Any, x: Any, y: Any) -> Any:
    before = builder.emit(OP.exp(OP.negative(x)))
    builder.match_cast(y, tvm_api.tensor_type((K,), "float32"))
    ones = builder.emit(OP.full(relax.ShapeExpr([K, M]), relax.const(2, "float32"), "float32"))
    return builder.emit(OP.multiply(ones, before))


def stretched(builder: Any, x: Any, y: Any) -> Any:
    return builder.emit(OP.broadcast_to(y, builder.emit(OP.shape_of(x))))


def sliced(builder: Any, x: Any, y: Any) -> Any:
    bounds = [relax.const(np.array([one]), "int64") for one in (1, 3, 1)]
    found = builder.emit(OP.dynamic_strided_slice(x, *bounds))
    return builder.emit(OP.multiply(found, y))


def in_rows(builder: Any, x: Any) -> Any:
    """A slice of three elements less than ``x`` as rows of as many: one."""
    part = builder.emit(OP.strided_slice(x, [0], [2], [-1]))
    return builder.emit(OP.exp(builder.emit(OP.reshape(part, (-1, M - 3)))))


def general(builder: Any, x: Any) -> Any:
    """The opposite of exp(x), by a function over two dimensions of its own."""
    a, b = map(tvm_api.shape_var, "ab")
    tensor = te.placeholder((a, b), "float32", name="tensor")
    made = te.create_prim_func([tensor, te.compute((a, b), lambda i, j: -tensor[i, j])])
    function = builder.add_func(made.without_attr("global_symbol"), "opposite")
    return builder.emit(OP.call_tir(function, [builder.emit(OP.exp(x))], tvm_api.type_of(x)))


BY_FIX: dict[str, dict[str, tuple[Callable[[], None], ...]]] = {
    "derived_shapes": {
        "symbols within dimensions": tuple(
            partial(runs, op(OP.nn.relu), *shapes, sizes=sizes, want=np.ones(sizes[0]))
            for shapes, sizes in (([(M * 2,)], [(4,)]), ([(M + N,), (N,)], [(3,), (1,)]))
        ),
    },
    "known_rank": {
        "tensors": (partial(runs, op(OP.nn.relu), 2, sizes=[(2, 3)], want=np.ones((2, 3))),),
    },
    "known_results": {
        "given shapes": (
            partial(runs, stretched, (M, 3), (1, 3), sizes=[(2, 3), (1, 3)], want=np.ones((2, 3))),
        ),
        "slices": (partial(runs, sliced, (3,), (M,), sizes=[(3,), (2,)], want=[1, 1]),),
        "sizes that reshape finds": (
            partial(runs, in_rows, (M,), sizes=[(6,)], want=np.full((1, 3), np.e)),
        ),
    },
    "dynamic_broadcast": {
        "symbols": (
            partial(runs, op(OP.add), (M,), (N,), sizes=[(3,), (3,)], want=[2, 2, 2]),
            partial(runs, op(OP.multiply), (M,), (3,), sizes=[(1,), (3,)], want=[1, 1, 1]),
        ),
    },
    "shape_guard": {
        "products": (partial(refuses, op(OP.matmul), (2, K), (N, 3), sizes=[(2, 2), (3, 3)]),),
        "channels": (
            partial(refuses, op(OP.nn.conv1d), (1, M, 4), (2, N, 2), sizes=[(1, 1, 4), (2, 2, 2)]),
        ),
        "windows": (
            partial(refuses, op(lambda x: OP.nn.max_pool1d(x, (3,))), (1, 1, N), sizes=[(1, 1, 2)]),
        ),
        "reshapes": (
            partial(refuses, op(lambda x: OP.reshape(x, (-1, 4))), (M, N), sizes=[(3, 3)]),
        ),
        "extents": (partial(tells, "-2", op(lambda x: OP.ones((N - 5,), "int8")), (N,), 3),),
        "casts": (partial(refuses, cast((N, M)), (M, N), sizes=[(2, 3)]),),
        "casts to own symbols": (
            partial(runs, cast((M, K)), (M * 2, M), sizes=[(0, 0)], want=np.ones((0, 0))),
        ),
    },
    "empty_constants": {
        "constants in files": (
            partial(
                runs,
                op(lambda x: OP.zeros((2, 0), "float32")),
                (1,),
                sizes=[(1,)],
                want=np.ones((2, 0)),
                fused=True,
            ),
        ),
    },
    "shape_order": {
        "fused calls": (
            partial(
                runs,
                repeated,
                (M,),
                1,
                sizes=[(3,), (2,)],
                want=np.full((2, 3), 2 * np.exp(-1)),
                fused=True,
            ),
        ),
    },
    "general_functions": {
        "fused calls": tuple(
            partial(runs, general, shape, sizes=[size], want=np.full(size, -np.e), fused=True)
            for shape, size in (((M, M), (2, 2)), ((M, M * 2), (2, 4)), ((2, 3), (2, 3)))
        ),
    },
    "circular_indices": {
        "remainders in indices": (partial(gathers, lambda i, n: n - 1 - (n + 1 - i) % n),),
    },
    "falling_indices": {
        "divisions in indices": (
            partial(gathers, lambda i, n: (n - 1 - i) % 2),
            partial(gathers, lambda i, n: (6 - i) // 3, 6),
        ),
    },
    "empty_reduction": {
        "sums": tuple(
            partial(writes, make, (2, "N"), sizes=[(2, 0)], output=output)
            for make, output in (
                (lambda x: OP.sum(x, axis=[1], keepdims=True), (2, 1)),
                (lambda x: OP.prod(x, axis=[1]), (2,)),
            )
        ),
        "products": (
            partial(writes, OP.matmul, (2, "K"), ("K", 3), sizes=[(2, 0), (0, 3)], output=(2, 3)),
        ),
        "choices": (
            partial(writes, lambda x: OP.min(x, axis=[0]), ("N", 2), sizes=[(0, 2)], output=(2,)),
        ),
    },
}
"""By fix, then by part."""
