"""Quotients and remainders of falling expressions: as arithmetic, and as indices of kernels."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import tirx

from relaxcheck import fixes
from relaxcheck.fixes.framework import installation, probes
from relaxcheck.fixes.passes import falling_indices
from relaxcheck.fixes.tvm_api import kernels as tvm_api_kernels
from relaxcheck.generators.emission.expressions import read
from relaxcheck.generators.expressions.grid_values import evaluate
from relaxcheck.generators.expressions.grids import grid
from relaxcheck.generators.expressions.language import Variable, variable
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

Index = Callable[[Any, Any], Any]

FALLING: list[tuple[str, Index]] = [
    ("a quotient", lambda i, n: (7 - i) // 2),
    ("a remainder", lambda i, n: (7 - i) % 2),
    ("both of one", lambda i, n: (7 - i) // 2 * 2 + (7 - i) % 2),
    ("by twos", lambda i, n: (14 - 2 * i) // 4),
    ("by threes", lambda i, n: (22 - i * 3) % 5),
    ("from a dimension", lambda i, n: (n - 1 - i) % 2),
    ("of a quotient", lambda i, n: (3 - i // 2) // 2),
    ("of one that falls", lambda i, n: (7 - (7 - i) // 2) // 3),
    ("by a negative number", lambda i, n: 4 + i // -2),
    ("a remainder by a negative number", lambda i, n: 2 + i % -3),
    ("what falls, by a negative number", lambda i, n: 4 + (9 - i) // -3),
]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_it_is_the_same_for_all_numbers(dtype: str) -> None:
    declared = (Variable("i", dtype, -9, 9), Variable("n", dtype, -4, 4))
    points = grid(declared)
    own = {each.name: variable(each) for each in declared}
    i, n = (tirx.Var(each.name, dtype) for each in declared)
    rising = [i + 2, i - n]
    falling = [3 - i, n - i, -1 - i, 5 + 2 * n - i * 3, n - (i * 2 + i) - 4]
    dividends = [*((each, False, {i}) for each in rising), *((each, True, {i}) for each in falling)]
    dividends += [(each, True, {i, n}) for each in (2 * n - i + 3, i - 7 * n - 1, 6 - i * 3 - n)]
    for (dividend, falls, loops), k, kind in product(
        dividends, range(-5, 6), (tirx.FloorDiv, tirx.FloorMod)
    ):
        node = kind(dividend, tirx.IntImm(dtype, k or 7))
        new = falling_indices._counting_up(node, loops)
        assert (new is not None) is (falls or k < 0), str(node)
        if new is None:
            continue
        got, want = (evaluate(read(each, own), points) for each in (new, node))
        assert not np.any(got.invalid)
        np.testing.assert_array_equal(got.values, want.values, str(node))


def test_only_what_falls_is_written_otherwise() -> None:
    i, j, n = (tirx.Var(name, "int32") for name in "ijn")
    for dividend, k in ((i + 3, 2), (i + 4 * j, 2), (n - 3, 2), (3 - n, 2)):
        assert falling_indices._counting_up(tirx.FloorDiv(dividend, tirx.const(k)), {i, j}) is None
    for node in (tirx.FloorDiv(7 - i, n), tirx.FloorMod(7 - i, tirx.const(0))):
        assert falling_indices._counting_up(node, {i, j}) is None
    # A product falls where the other factor does not change, whatever its sign.
    changing = tirx.FloorDiv(7 - i * n, tirx.const(2))
    assert falling_indices._counting_up(changing, {i}) is not None


def test_unsigned_and_unrepresentable_indices_are_left_unchanged() -> None:
    p, i = tirx.Var("p", "uint32"), tirx.Var("i", "uint32")
    unsigned = p - tirx.const(5, "uint32") - i
    x = tirx.Var("x", "int32")
    least = tirx.IntImm("int32", -(2**31))
    for dividend, divisor in ((unsigned, tirx.const(2, "uint32")), (7 - x, least), (x, least)):
        for kind in (tirx.FloorDiv, tirx.FloorMod):
            assert falling_indices._counting_up(kind(dividend, divisor), {i, x}) is None
    # The next one fits.
    near = tirx.FloorDiv(-1 - x, tirx.IntImm("int32", 1 - 2**31))
    assert falling_indices._counting_up(near, {x}) is not None
    # 2**31 - 1 and 3 fit; their sum does not.
    far = tirx.Add(tirx.IntImm("int32", 2**31 - 1), tirx.Sub(tirx.const(3), x))
    assert falling_indices._counting_up(tirx.FloorDiv(far, tirx.const(2)), {x}) is None


MIXED: list[Index] = [
    lambda i, j: (4 * j - i + 3) % 2,
    lambda i, j: (2 * j - i + 3) // 2,
    lambda i, j: (8 * j - i + 7) % 2,
    lambda i, j: (8 * j - i + 7) % 4,
    lambda i, j: (i - j + 1) // 2,
    lambda i, j: (3 * i - 2 * j + 2) % 4 + (3 * i - 2 * j + 2) // 4,
    lambda i, j: 5 + (j - i) // -2,
]


def test_an_index_that_rises_in_one_loop_and_falls_in_another() -> None:
    functions = {}
    for number, index in enumerate(MIXED):
        data, out = (tirx.decl_buffer((8,), "int32", name) for name in ("data", "out"))
        i, j = tirx.Var("i", "int32"), tirx.Var("j", "int32")
        body = tirx.BufferStore(out, tirx.BufferLoad(data, [index(i, j)]), [j * 4 + i])
        for loop, extent in ((i, 4), (j, 2)):
            body = tirx.For(loop, tirx.const(0), tirx.const(extent), tirx.ForKind.SERIAL, body)
        main = tirx.PrimFunc([data, out], body).with_attr("global_symbol", f"main{number}")
        functions[f"main{number}"] = main
    with installation.install([falling_indices.FIX]):
        module = fixes.lowered_pipeline()(tvm.IRModule(functions))
    executable = tvm.compile(module, compiled.TARGET)
    for number, index in enumerate(MIXED):
        tensors = [tvm.runtime.tensor(np.arange(8, dtype="int32")) for _ in range(2)]
        executable[f"main{number}"](*tensors)
        want = [index(i, j) for j in range(2) for i in range(4)]
        assert tensors[1].numpy().tolist() == want, number


@pytest.mark.parametrize(
    "index", [index for _, index in FALLING], ids=[name for name, _ in FALLING]
)
def test_falling_indices(index: Index) -> None:
    array = compiled.sample((8,))
    want = [array[index(i, 8)] for i in range(8)]
    with installation.install([falling_indices.FIX]):
        for size in (8, None):
            module = probes.gathering(index, size)
            run = compiled.build(module, pipeline=fixes.pipeline())
            np.testing.assert_array_equal(run(array), np.array(want, "float32"))


def test_a_fused_program_too() -> None:
    module = probes.gathering(lambda i, n: (3 - i) // 2, 4)
    with fixes.install():
        run = compiled.build(module, pipeline=fixes.pipeline(compiled.TARGET))
    np.testing.assert_array_equal(run(np.arange(4, dtype="float32")), [1, 1, 0, 0])


def test_a_place_that_is_written_too() -> None:
    """A lowered function that no Relax program calls."""
    data, out = (tirx.decl_buffer((8,), "int32", name) for name in ("data", "out"))
    i = tirx.Var("i", "int32")
    body = tirx.BufferStore(out, tirx.BufferLoad(data, [i]), [tirx.FloorMod(7 - i, tirx.const(8))])
    loop = tirx.For(i, tirx.const(0), tirx.const(8), tirx.ForKind.SERIAL, body)
    main = tirx.PrimFunc([data, out], loop).with_attr("global_symbol", "main")
    with installation.install([falling_indices.FIX]):
        module = fixes.lowered_pipeline()(tvm.IRModule({"main": main}))
    executable = tvm.compile(module, compiled.TARGET)
    tensors = [tvm.runtime.tensor(np.arange(8, dtype="int32")) for _ in range(2)]
    executable["main"](*tensors)
    np.testing.assert_array_equal(tensors[1].numpy(), np.arange(8)[::-1])


def test_other_functions_are_as_they_were() -> None:
    module = probes.gathering(lambda i, n: i // 2 + (i + 1) % 2 + (n - i) // n)
    assert falling_indices.PASS(module).same_as(module)
    ((_, before),) = tvm_api_kernels.functions(module)
    ((_, after),) = tvm_api_kernels.functions(falling_indices.PASS(module))
    assert after.same_as(before)


def test_this_tvm_needs_it() -> None:
    assert falling_indices.FIX.needed()


PROGRAMS: whole.Programs = {
    "falling_indices": {
        "divisions in indices": (
            partial(whole.gathers, lambda i, n: (n - 1 - i) % 2),
            partial(whole.gathers, lambda i, n: (6 - i) // 3, 6),
        ),
    },
}

CURES: whole.Cures = {
    "index-counting-down-divided": (("falling_indices", "divisions in indices"),),
    "index-floordiv-by-a-negative-constant": (("falling_indices", "divisions in indices"),),
    "shape-floordiv-by-a-negative-constant": (("falling_indices", "divisions in indices"),),
    "shape-remainder-bound-twice": (("falling_indices", "divisions in indices"),),
}
