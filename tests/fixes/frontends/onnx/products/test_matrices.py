"""ONNX's MatMul, MatMulInteger and Gemm agree with ONNX Runtime and with NumPy."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.products.matrices import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import Array, NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)
Shapes = Mapping[str, tuple[int | str, ...]]


def data(*shape: int, dtype: str = "float32") -> Array:
    return RANDOM.integers(-4, 5, shape).astype(dtype)


def stacks(
    left: tuple[int, ...], right: tuple[int, ...], shapes: Shapes, dtype: str = "float32"
) -> NodeCase:
    inputs = {"A": data(*left, dtype=dtype), "B": data(*right, dtype=dtype)}
    expected = (np.asarray(np.matmul(inputs["A"], inputs["B"])),)
    return NodeCase("MatMul", 13, inputs, shapes=shapes, expected=expected)


def affine(
    more: tuple[int, ...] | None, shapes: Shapes, dtype: str = "float32", **settings: Any
) -> NodeCase:
    """A Gemm of (2, 3) and (3, 4), each transposed where that is asked for."""
    a, b = data(2, 3, dtype=dtype), data(3, 4, dtype=dtype)
    result = settings.get("alpha", 1) * (a @ b)
    inputs = {
        "A": a.T.copy() if settings.get("transA") else a,
        "B": b.T.copy() if settings.get("transB") else b,
    }
    if more is not None:
        inputs["C"] = data(*more, dtype=dtype)
        result = result + settings.get("beta", 1) * inputs["C"]
    expected = (np.asarray(result).astype(dtype),)
    return NodeCase("Gemm", 13, inputs, settings, shapes=shapes, expected=expected)


BATCHES: Shapes = {"A": ("m", 2, 3), "B": ("n", 3, 4)}
SUMMAND: Shapes = {"C": ("n", 4)}

PROGRAMS: whole.Programs = {
    FIX.name: {
        "a symbolic summand": programs(affine((1, 4), SUMMAND)),
        "symbolic batches": programs(stacks((1, 2, 3), (5, 3, 4), BATCHES)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((2, 3), (3, 4)),
        ((3,), (3, 4)),
        ((2, 3), (3,)),
        ((3,), (3,)),
        ((5, 2, 3), (3, 4)),
        ((5, 1, 2, 3), (4, 3, 4)),
    ],
)
def test_products(left: tuple[int, ...], right: tuple[int, ...], dtype: str) -> None:
    check(stacks(left, right, {}, dtype))


@pytest.mark.parametrize(
    ("left", "right"), [((0,), (0, 4)), ((2, 0), (0,)), ((2, 0), (0, 4)), ((0, 2, 3), (3, 4))]
)
def test_nothing(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    check(replace(stacks(left, right, {}), held=("A", "B")))


def test_batches_that_broadcast_at_run_time() -> None:
    check(stacks((1, 2, 3), (5, 3, 4), BATCHES))
    check(stacks((5, 2, 3), (5, 3, 4), BATCHES))
    check(stacks((5, 2, 3), (1, 3, 4), BATCHES))
    check(stacks((5, 2, 3), (5, 3, 4), {"A": (5, 2, "k"), "B": ("n", "l", 4)}))


@pytest.mark.parametrize("more", [None, (), (1,), (4,), (2, 1), (1, 4), (2, 4)])
def test_summands(more: tuple[int, ...] | None) -> None:
    check(affine(more, {}, transA=1, alpha=0.5, beta=0.25))
    symbols = {} if more is None else {"C": ("m", "n")[2 - len(more) :]}
    check(affine(more, {"A": ("B", 3), **symbols}, transB=1))


def test_integers() -> None:
    check(affine((4,), {}, "int32", alpha=2.0, beta=3.0))
    with pytest.raises(Exception, match=r"Gemm cannot be lowered with alpha=0\.5"):
        check(affine((4,), {}, "int32", alpha=0.5))


def test_zero_points() -> None:
    inputs = {"A": data(2, 3, dtype="int8"), "B": data(3, 4, dtype="int8")}
    for points in ((), (1,), (1, 2)):
        zeros = {f"zero_{at}": np.array(zero, np.int8) for at, zero in enumerate(points)}
        check(NodeCase("MatMulInteger", 10, {**inputs, **zeros}))
        check(NodeCase("MatMulInteger", 10, {**inputs, **zeros}, shapes={"A": ("m", 3)}))
    rows, columns = np.array([1, 2], np.int8), np.array([1, 2, 3, 4], np.int8)
    left, right = (inputs[name].astype(np.int32) for name in "AB")
    expected = ((left - rows[:, None]) @ (right - columns),)
    case = NodeCase(
        "MatMulInteger", 10, {**inputs, "rows": rows, "columns": columns}, expected=expected
    )
    check(case)


def test_errors_name_operator_and_shapes() -> None:
    inputs = {"A": data(2, 3), "B": data(2, 4)}
    for operator in ("MatMul", "Gemm"):
        with pytest.raises(ValueError, match=rf"{operator} is invalid with shape of A="):
            check(NodeCase(operator, 13, inputs))
