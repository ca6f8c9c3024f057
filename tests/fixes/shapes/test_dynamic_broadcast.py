"""Broadcasting of dimensions that may turn out to be 1 at run time."""

import functools
from functools import partial
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, tirx

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation, probes
from relaxcheck.fixes.passes import fusion
from relaxcheck.fixes.shapes import dynamic_broadcast
from relaxcheck.fixes.shapes import shape_guard as shape_guard
from tests.fixes import compiled
from tests.fixes import whole_programs as whole
from tests.fixes.shapes.test_known_rank import program as dataflow

OP = relax.op


def built(make: Any, *shapes: Any, dtypes: tuple[str, ...] = (), fused: bool = False) -> Any:
    # FuseTIR of 0.26 fails on a valid module.
    with installation.install([dynamic_broadcast.FIX, shape_guard.FIX, fusion.FIX]):
        pipeline = fixes.pipeline(compiled.TARGET if fused else None)
        return compiled.build(compiled.module(make, *shapes, dtypes=dtypes), pipeline=pipeline)


CHAIN = (lambda x, y, z: OP.nn.relu(OP.multiply(OP.add(x, y), z)), ("M",), ("N",), ("K",))


@pytest.mark.parametrize(
    ("program", "reference", "sizes"),
    [
        (
            (OP.add, ("M",), ("N",)),
            np.add,
            [((3,), (3,)), ((1,), (3,)), ((3,), (1,)), ((1,), (0,))],
        ),
        ((OP.maximum, ("M",), (3,)), np.maximum, [((3,), (3,)), ((1,), (3,))]),
        (
            (OP.subtract, ("M", 1, "K"), ("B", "N")),
            np.subtract,
            [((2, 1, 3), (4, 3)), ((2, 1, 1), (4, 3)), ((2, 1, 3), (1, 1))],
        ),
        (
            CHAIN,
            lambda x, y, z: np.maximum((x + y) * z, 0),
            [((3,), (1,), (3,)), ((1,), (1,), (4,)), ((1,), (4,), (1,))],
        ),
        (
            (lambda x, y, z: OP.matmul(OP.add(x, y), z), ("M", "N"), ("A", "B"), ("K", 3)),
            lambda x, y, z: (x + y) @ z,
            [((1, 3), (2, 1), (3, 3)), ((2, 1), (1, 4), (4, 3))],
        ),
    ],
)
@pytest.mark.parametrize("fused", [False, True])
def test_values(program: Any, reference: Any, sizes: Any, fused: bool) -> None:
    run = built(*program, fused=fused)
    for size in sizes:
        arrays = [compiled.sample(shape, seed=number) for number, shape in enumerate(size)]
        result = run(*arrays)
        np.testing.assert_allclose(result, reference(*arrays), rtol=1e-4, atol=1e-6)


def test_three_operands_of_two_dtypes() -> None:
    run = built(OP.where, ("M",), ("N",), (2, "K"), dtypes=("bool", "float32", "float32"))
    for sizes in (((3,), (1,), (2, 3)), ((1,), (4,), (2, 1)), ((1,), (1,), (2, 4))):
        which = compiled.sample(sizes[0]) > 0
        x, y = compiled.sample(sizes[1], seed=1), compiled.sample(sizes[2], seed=2)
        np.testing.assert_array_equal(run(which, x, y), np.where(which, x, y))


@pytest.mark.parametrize(
    ("program", "reference", "sizes", "other", "message"),
    [
        (
            (OP.matmul, ("B", "M", "N"), ("C", "K", 3)),
            np.matmul,
            [((2, 2, 3), (2, 3, 3)), ((1, 2, 3), (2, 3, 3)), ((2, 2, 3), (1, 3, 3))],
            ((2, 2, 3), (3, 3, 3)),
            "main: matmul: dimensions B and C must be equal, or one of them 1, got 2 and 3",
        ),
        (
            (lambda x, y: OP.concat([x, y], 0), ("M", "N"), ("K", "C")),
            lambda x, y: np.concatenate([x, y]),
            [((2, 3), (1, 3)), ((0, 2), (1, 2))],
            ((2, 3), (1, 2)),
            "main: concat: dimensions 1 of tensors 0 and 1, N and C must be equal, got 3 and 2",
        ),
        (
            (lambda x, w: OP.nn.rms_norm(OP.exp(x), w, axes=[-1]), ("M", "N"), ("K",)),
            lambda x, w: np.exp(x) / np.sqrt((np.exp(x) ** 2).mean(-1, keepdims=True) + 1e-5) * w,
            [((2, 3), (3,))],
            ((2, 3), (1,)),
            "main: nn.rms_norm: dimensions of data and weights N and K must be equal, got 3 and 1",
        ),
    ],
)
@pytest.mark.parametrize("fused", [False, True])
def test_other_operators(
    program: Any, reference: Any, sizes: Any, other: Any, message: str, fused: bool
) -> None:
    run = built(*program, fused=fused)
    for size in sizes:
        arrays = [compiled.sample(shape, seed=number) for number, shape in enumerate(size)]
        np.testing.assert_allclose(run(*arrays), reference(*arrays), rtol=1e-4, atol=1e-5)
    with pytest.raises(AssertionError) as caught:
        run(*map(compiled.sample, other))
    assert str(caught.value).startswith(f"{message} (")


def test_incompatible_shapes_are_refused() -> None:
    run = built(*CHAIN)
    with pytest.raises(
        AssertionError,
        match=compiled.whole(
            "main: add: dimensions M and N must be equal, or one of them 1, got 2 and 3"
            " (M is dimension 0 of input 'x0', N is dimension 0 of input 'x1')"
        ),
    ):
        run(*map(compiled.sample, ((2,), (3,), (3,))))
    with pytest.raises(
        AssertionError,
        match=compiled.whole(
            "main: multiply: dimensions M_or_N and K must be equal, or one of them 1, got 3 and 2"
            " (K is dimension 0 of input 'x2', M is dimension 0 of input 'x0',"
            " N is dimension 0 of input 'x1')"
        ),
    ):
        run(*map(compiled.sample, ((1,), (3,), (2,))))
    assert run(*map(compiled.sample, ((0,), (1,), (1,)))).shape == (0,)
    with pytest.raises(AssertionError, match="got 0 and 2"):
        run(*map(compiled.sample, ((0,), (2,), (2,))))


def test_in_a_branch_nothing_is_broadcast() -> None:
    """Its needs must not be checked when it is not taken."""
    m, n = tvm_api.shape_var("m"), tvm_api.shape_var("n")
    which = relax.Var("which", tvm_api.tensor_type((), "bool"))
    x = relax.Var("x", tvm_api.tensor_type((m,), "float32"))
    y = relax.Var("y", tvm_api.tensor_type((n,), "float32"))
    wanted = tvm_api.unshaped_type(1, "float32")

    def branch(value: Any) -> Any:
        result = relax.Var("b", wanted)
        binding = relax.VarBinding(result, relax.BlockBuilder().normalize(value))
        return relax.SeqExpr([relax.BindingBlock([binding])], result)

    choice = relax.If(which, branch(OP.add(x, y)), branch(OP.abs(x)))
    result = relax.Var("r", wanted)
    blocks = [relax.BindingBlock([relax.VarBinding(result, choice)])]
    function = relax.Function([which, x, y], relax.SeqExpr(blocks, result), wanted, True)
    module = tvm.IRModule({"main": function.with_attr("global_symbol", "main")})
    module = relax.transform.Normalize()(module)
    assert dynamic_broadcast.PASS(module).same_as(module)


def test_beside_an_operand_of_unknown_rank_nothing_is_broadcast() -> None:
    m, n = tvm_api.shape_var("m"), tvm_api.shape_var("n")
    anything = tvm_api.tensor_type((), "bool").__class__(dtype="bool")
    which = relax.Var("which", anything)
    sides = [relax.Var(str(dim), tvm_api.tensor_type((dim,), "float32")) for dim in (m, n)]
    builder = relax.BlockBuilder()
    with builder.function("main", [which, *sides]):
        builder.emit_func_output(builder.emit(OP.where(which, *sides)))
    module = builder.get()
    assert dynamic_broadcast.PASS(module).same_as(module)


def test_the_common_shape() -> None:
    m, n = tvm_api.shape_var("m"), tvm_api.shape_var("n")
    unit, three = tvm_api.integer(1), tvm_api.integer(3)
    asked = []

    def choose(left: Any, right: Any) -> Any:
        asked.append((left, right))
        return right

    result = dynamic_broadcast.common_shape([[m, n, unit], [n, m], [three]], choose)
    assert [tvm_api.show(dim) for dim in result] == ["m", "n", "3"]
    assert asked == []
    assert dynamic_broadcast.common_shape([[m * 2], [n]], choose)[0].same_as(n)
    assert len(asked) == 1


@pytest.mark.parametrize("shapes", [(("M", 3), ("M", 1)), ((2,), (2,)), (("M",), (1,))])
def test_calls_that_tvm_broadcasts_are_left_unchanged(shapes: Any) -> None:
    program = compiled.module(OP.add, *shapes)
    assert dynamic_broadcast.PASS(program).same_as(program)


def test_this_tvm_needs_it() -> None:
    assert dynamic_broadcast.FIX.needed()


@pytest.mark.parametrize("turned", [False, True])
def test_a_dimension_is_one_that_it_is_made_of(turned: bool) -> None:
    """Split in two and joined again: TVM does not see that these are all elements."""

    def make(x: Any, y: Any) -> Any:
        parts = OP.split(x, [2], axis=0)
        both = OP.concat([parts[1], parts[0]], axis=0)
        return OP.nn.relu(OP.stack([y, both] if turned else [both, y], axis=0))

    run = built(make, ("M",), ("M",), fused=True)
    for size in (3, 2):
        x, y = compiled.sample((size,)), compiled.sample((size,), seed=1)
        both = np.concatenate([x[2:], x[:2]])
        want = np.stack([y, both] if turned else [both, y])
        np.testing.assert_array_equal(run(x, y), np.maximum(want, 0))


def test_dimensions_that_are_written_in_two_ways_are_fused() -> None:
    """A later step lowers the repetition over 2*m elements, where the pass saw m*2."""

    def make(x: Any, y: Any) -> Any:
        return OP.nn.relu(OP.subtract(OP.repeat(x, 2, 0), y))

    run = built(make, ("M",), ("N",), fused=True)
    for size, other in ((3, 6), (3, 1), (2, 4)):
        x, y = compiled.sample((size,)), compiled.sample((other,), seed=1)
        np.testing.assert_array_equal(run(x, y), np.maximum(x.repeat(2) - y, 0))


def test_equalities_that_tvm_cannot_prove_become_casts() -> None:
    """A fifth is less than half: the dimensions are equal, and TVM does not see it."""
    m = tvm_api.shape_var("m")
    fifth, half = tvm_api.floordiv(m, 5), tvm_api.floordiv(m + 1, 2)
    shapes = [(fifth,), (tirx.min(fifth, half),), (m,)]
    with installation.install([dynamic_broadcast.FIX, shape_guard.FIX]):
        module = probes.program(lambda x, y, z: OP.add(x, y), *shapes)
        run = compiled.build(module, pipeline=fixes.pipeline())
    for size in (13, 4):
        x, y, z = (compiled.sample((length,)) for length in (size // 5, size // 5, size))
        np.testing.assert_array_equal(run(x, y, z), x + y)


def test_equalities_that_tvm_proves_one_way_round_become_casts() -> None:
    """The analyzer is asked ``a == b`` both ways round, and sees it only one way."""
    b, m = tvm_api.shape_var("b"), tvm_api.shape_var("m")
    left, right = b * 3 * (m - 4), 3 * b * m - 12 * b
    shapes = [(b, 3, m - 4), (m, right), (b, m)]
    with installation.install([dynamic_broadcast.FIX, shape_guard.FIX]):
        module = probes.program(lambda x, y, z: OP.maximum(OP.reshape(x, (left,)), y), *shapes)
        run = compiled.build(module, pipeline=fixes.pipeline())
    x, y, z = (compiled.sample(shape) for shape in [(2, 3, 1), (5, 6), (2, 5)])
    np.testing.assert_array_equal(run(x, y, z), np.maximum(x.reshape(6), y))


def test_a_slice_by_values_of_a_stretched_result_can_be_stretched() -> None:
    """The slice's shape has no symbols before the operands of the sum are stretched."""

    def make(x: Any, y: Any, z: Any) -> Any:
        begin, end, step = (relax.const(np.array([value], "int64"), "int64") for value in (1, 9, 2))
        each = OP.dynamic_strided_slice(OP.add(x, y), begin, end, step)
        each = OP.dynamic_strided_slice(OP.multiply(each, z), begin, end, step)
        return OP.subtract(each, y)

    with fixes.install():
        program = compiled.module(make, ("M",), ("N",), ("K",))
        run = compiled.build(program, pipeline=fixes.pipeline())
    for sizes in ((9, 1, 4), (16, 1, 1), (4, 1, 2), (1, 1, 0)):
        x, y, z = (compiled.sample((size,), seed=at) for at, size in enumerate(sizes))
        want = ((x + y)[1:9:2] * z)[1:9:2] - y
        np.testing.assert_array_equal(run(x, y, z), want)


def test_dimensions_that_topi_takes_for_two_are_cast_to_one() -> None:
    """TVM's types know the shape, but TOPI takes the ``max`` of both, which fits nothing."""
    b, m, n = map(tvm_api.shape_var, "bmn")
    third = tvm_api.floordiv(n + 2, 3)
    shapes = [(b * 2 * third * m,), (5, 2 * third * b * m), (b, m, n)]
    with installation.install([dynamic_broadcast.FIX]):
        module = probes.program(lambda x, y, z: OP.maximum(OP.maximum(x, y), y), *shapes)
        run = compiled.build(module, pipeline=fixes.pipeline())
    x, y, z = (compiled.sample(shape) for shape in [(16,), (5, 16), (2, 2, 5)])
    np.testing.assert_array_equal(run(x, y, z), np.maximum(x, y))


@pytest.mark.parametrize("fused", [False, True])
def test_the_operand_beside_a_cast_one_is_cast_too(fused: bool) -> None:
    """The concatenation is lowered to a function that writes the sum in another order."""

    def make(builder: Any, x: Any, y: Any) -> Any:
        halves = builder.emit(OP.split(x, [1]))
        first, second = (builder.emit(relax.TupleGetItem(halves, at)) for at in range(2))
        return OP.subtract(y, builder.emit(OP.concat([second, first])))

    m = tvm_api.shape_var("m")
    with fixes.install():
        module = dataflow(make, *(tvm_api.tensor_type([m], "float32") for _ in range(2)))
        run = compiled.build(module, pipeline=fixes.pipeline(compiled.TARGET if fused else None))
    for size in (1, 5):
        x, y = (compiled.sample((size,), seed=seed) for seed in range(2))
        np.testing.assert_array_equal(run(x, y), y - np.roll(x, -1))


def test_checks_are_placed_beside_casts_to_symbols_of_their_own_values() -> None:
    """Placing a check within a function runs a pass of TVM that does not end for such a cast."""
    m = tvm_api.shape_var("m")
    least = tirx.min(m, 2**31 - 1)

    def make(builder: Any, x: Any, y: Any, z: Any) -> Any:
        begin, end, step = (tvm_api.const(np.array([value], "int64")) for value in (1, 9, 1))
        part = builder.match_cast(builder.emit(OP.negative(x)), tensor(m))
        result = builder.emit(OP.dynamic_strided_slice(part, begin, end, step))
        return builder.match_cast(builder.emit(OP.add(result, z)), tensor(m - 1))

    def tensor(*dims: Any) -> Any:
        return tvm_api.tensor_type(dims, "float32")

    module = dataflow(make, tensor(least), tensor(m), tensor(m - 1))
    with fixes.install():
        run = compiled.build(module, pipeline=fixes.pipeline())
    x, y, z = (compiled.sample((size,), seed=size) for size in (5, 5, 4))
    np.testing.assert_array_equal(run(x, y, z), z - x[1:])


def test_a_chain_is_not_twice_as_long_with_each_operand() -> None:
    """Each operand has its own symbol: the number of queries grows with their square."""

    def asked(operands: int) -> int:
        shapes = ((f"N{number}",) for number in range(operands))
        program = compiled.module(lambda *tensors: functools.reduce(OP.add, tensors), *shapes)
        with installation.install([dynamic_broadcast.FIX, shape_guard.FIX]):
            result: int = dynamic_broadcast.PASS(program).script().count("T.Select")
        return result

    growth = np.diff([asked(operands) for operands in range(2, 8)])
    assert growth[0] > 0
    assert len(set(np.diff(growth))) == 1


PROGRAMS: whole.Programs = {
    "dynamic_broadcast": {
        "symbols": (
            partial(
                whole.runs,
                whole.op(relax.op.add),
                (whole.M,),
                (whole.N,),
                sizes=[(3,), (3,)],
                want=[2, 2, 2],
            ),
            partial(
                whole.runs,
                whole.op(relax.op.multiply),
                (whole.M,),
                (3,),
                sizes=[(1,), (3,)],
                want=[1, 1, 1],
            ),
        ),
    },
}

CURES: whole.Cures = {
    "broadcast-symbols": (("dynamic_broadcast", "symbols"),),
}
