"""TOPI's batch matrix product with the fix: shape checks, messages, empty operands, values."""

import re
from itertools import product
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, te, tirx, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.lowerings import batch_matmul
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


def tensor(*shape: Any) -> Any:
    return te.placeholder(shape, dtype="float64")


def test_equal_expressions_are_equal(fixes_on: None) -> None:
    batch, heads, k = (tvm_api.shape_var(name) for name in "bhk")
    left, right = tensor(batch * heads, 2, 2 * k), tensor(heads * batch, 4, k + k)
    out = topi.nn.batch_matmul(left, right)
    assert tvm_api.analyzer().can_prove_equal(out.shape[0], batch * heads)


def test_a_symbolic_batch_stays_bound(fixes_on: None) -> None:
    batch = tvm_api.shape_var("b")
    assert topi.nn.batch_matmul(tensor(batch, 2, 3), tensor(batch, 4, 3)).shape[0].same_as(batch)


@pytest.mark.parametrize(
    ("left", "right", "shown"),
    [
        ((2, 3, 4), (3, 3, 4), "batch dimensions 2 and 3"),
        (("b", 3, 4), ("c", 3, 4), "batch dimensions b and c"),
        (("b", 3, 4), (2, 3, 4), "batch dimensions b and 2"),
        ((2, 3, 4), (2, 3, 5), "inner dimensions 4 and 5"),
        ((3, 4), (2, 3, 4), r"shape \(3, 4\) is not of rank 3"),
    ],
)
def test_a_mismatch_shows_both_dimensions(
    fixes_on: None, left: Any, right: Any, shown: str
) -> None:
    symbols = {name: tvm_api.shape_var(name) for name in "bc"}
    shapes = [[symbols.get(dim, dim) for dim in shape] for shape in (left, right)]
    with pytest.raises(AssertionError, match=shown):
        topi.nn.batch_matmul(*(tensor(*shape) for shape in shapes))


@pytest.mark.parametrize(
    "kind", [tirx.Var, tirx.SizeVar] if hasattr(tirx, "SizeVar") else [tirx.Var]
)
def test_a_plain_variable_is_trusted_to_fit_and_an_expression_is_not(
    fixes_on: None, kind: Any
) -> None:
    inner = kind("m", "int64")
    out = topi.nn.batch_matmul(tensor(2, 3, 4), tensor(2, 5, inner))
    assert tuple(map(int, out.shape)) == (2, 3, 5)
    with pytest.raises(AssertionError, match=r"inner dimensions 4 and m \* 2"):
        topi.nn.batch_matmul(tensor(2, 3, 4), tensor(2, 5, inner * 2))


def test_every_name_in_tvm_is_bound_to_the_fix(fixes_on: None) -> None:
    function = topi.nn.batch_matmul
    assert function.__module__ == "relaxcheck.fixes.lowerings.batch_matmul"
    module: Any = tvm.topi.nn.batch_matmul
    assert module is function
    import sys

    assert sys.modules["tvm.topi.nn.batch_matmul"].batch_matmul is function  # type: ignore[attr-defined]


@pytest.mark.parametrize(("transposes", "letters"), [((False, True), "NT"), ((True, False), "TN")])
def test_schedules_find_the_product_by_its_tag(
    fixes_on: None, transposes: tuple[bool, bool], letters: str
) -> None:
    right = tensor(2, 4, 4)
    product = topi.nn.batch_matmul(tensor(2, 4, 4), right, None, None, *transposes).op
    assert (product.name, product.tag) == (f"T_batch_matmul_{letters}", "batch_matmul")
    assert product.attrs["layout_free_placeholders"][0].same_as(right)


@pytest.mark.parametrize("rewritten", [("", [2, 5, 4]), ("layout", None)])
def test_layouts_of_the_schedulers_are_left_to_tvm(
    rewritten: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    call = (tensor(2, 3, 4), tensor(2, 1, 4, 5), (2, 3, 5), "float32", True, False, *rewritten)
    seen: list[Any] = []
    monkeypatch.setattr(batch_matmul, "_ORIGINAL", lambda *arguments: seen.extend(arguments))
    batch_matmul.batch_matmul(*call)
    assert len(seen) == len(call)
    assert all(left is right for left, right in zip(seen, call, strict=True))


@pytest.mark.parametrize(("transpose_a", "transpose_b"), list(product((False, True), repeat=2)))
@pytest.mark.parametrize("batches", [(3, 3), (1, 3), (3, 1)])
def test_values(
    fixes_on: None, transpose_a: bool, transpose_b: bool, batches: tuple[int, int]
) -> None:
    shapes = (
        (batches[0], 4, 2) if transpose_a else (batches[0], 2, 4),
        (batches[1], 5, 4) if transpose_b else (batches[1], 4, 5),
    )
    variables = [
        relax.Var(name, tvm_api.tensor_type(shape, "int32"))
        for name, shape in zip("ab", shapes, strict=True)
    ]
    builder = relax.BlockBuilder()
    with builder.function("main", variables):
        builder.emit_func_output(
            builder.emit_te(
                topi.nn.batch_matmul,
                *variables,
                transpose_a=transpose_a,
                transpose_b=transpose_b,
                out_dtype="int64",
            )
        )
    left, right = (compiled.sample(shape, "int32", seed) for seed, shape in enumerate(shapes))
    out = compiled.build(builder.get())(left, right)
    left = left.transpose(0, 2, 1) if transpose_a else left
    right = right.transpose(0, 2, 1) if transpose_b else right
    assert out.dtype == np.int64
    np.testing.assert_array_equal(out, left @ right)


def batch_product(*shapes: tuple[Any, ...]) -> Any:
    return topi.nn.batch_matmul(*(te.placeholder(shape, "float32") for shape in shapes))


def shows_dimensions() -> None:
    with pytest.raises(AssertionError, match="2 and 3"):
        batch_product((2, 2, 3), (3, 2, 3))


def compiled_product(*shapes: Any, dtype: str = "float32", **kw: Any) -> Any:
    def make(left: Any, right: Any) -> Any:
        builder = relax.BlockBuilder.current()
        return builder.emit_te(topi.nn.batch_matmul, left, right, **kw)

    return compiled.build(compiled.module(make, *shapes, dtypes=(dtype, dtype)))


def test_symbols_of_every_dimension(fixes_on: None) -> None:
    function = compiled_product(("B", "M", "K"), ("B", "N", "K"), dtype="float64")
    for b, m, n, k in ((1, 1, 1, 1), (2, 3, 4, 5), (3, 2, 1, 7), (2, 2, 2, 0)):
        left, right = compiled.sample((b, m, k), "float64"), compiled.sample((b, n, k), "float64")
        want = left @ right.transpose(0, 2, 1)
        np.testing.assert_allclose(function(left, right), want, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ((2, 3, 4), (3, 3, 4), "batch dimensions 2 and 3 don't match"),
        (("B", 3, 4), (2, 3, 4), "batch dimensions B and 2 don't match"),
        ((2, 3, 4), (2, 3, 5), "inner dimensions 4 and 5 don't match"),
        ((2, 3, "K"), (2, 3, 5), "inner dimensions K and 5 don't match"),
        ((3, 4), (2, 3, 4), "the shape (3, 4) is not of rank 3"),
        ((2, 3, 4), (2, 3, "B", 1), "the shape (2, 3, B, 1) is not of rank 3"),
    ],
)
def test_messages(fixes_on: None, left: Any, right: Any, message: str) -> None:
    tensors = [
        te.placeholder([tvm_api.shape_var(dim) if isinstance(dim, str) else dim for dim in shape])
        for shape in (left, right)
    ]
    with pytest.raises(AssertionError, match=f"^batch_matmul: {re.escape(message)}$"):
        topi.nn.batch_matmul(*tensors)


@pytest.mark.parametrize("inner", [0, "K"])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_nothing_is_read(fixes_on: None, inner: Any, transpose_b: bool) -> None:
    def make(left: Any, right: Any) -> Any:
        builder = relax.BlockBuilder.current()
        return builder.emit_te(topi.nn.batch_matmul, left, right, transpose_b=transpose_b)

    right = (1, 1, inner) if transpose_b else (1, inner, 1)
    program = compiled.module(make, (1, 1, inner), right)
    run = compiled.machine(program)["main"]
    out = run(
        compiled.empty(1, 1, 0), compiled.empty(*((1, 1, 0) if transpose_b else (1, 0, 1)))
    ).numpy()
    assert out.item() == 0


@pytest.mark.parametrize("dtype", ["int8", "int16", "float16", "float64"])
@pytest.mark.parametrize("inner", [3, "K"])
def test_the_dtype_is_that_of_the_operands(fixes_on: None, dtype: str, inner: Any) -> None:
    def make(left: Any, right: Any) -> Any:
        return relax.BlockBuilder.current().emit_te(topi.nn.batch_matmul, left, right)

    shapes = (2, 3, inner), (2, 4, inner)
    arrays = [
        compiled.sample(compiled.size(shape, {"K": 3}), "int8", seed).astype(dtype)
        for seed, shape in enumerate(shapes)
    ]
    out = compiled.build(compiled.module(make, *shapes, dtypes=(dtype, dtype)))(*arrays)
    assert out.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(out, arrays[0] @ arrays[1].transpose(0, 2, 1))


PROGRAMS: whole.Programs = {
    "batch_matmul": {
        "equality of dimensions": (whole.upstream("batch_matmul", "equal_products_of_symbols"),),
        "a symbolic batch": (whole.upstream("batch_matmul", "symbol_is_bound"),),
        "messages": (shows_dimensions,),
        "sums of nothing": (whole.upstream("batch_matmul", "sum_of_nothing_is_initialized"),),
    },
}
