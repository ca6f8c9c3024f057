"""A target is granted the errors of its own definition, and no others."""

import ml_dtypes
import numpy as np
import pytest

from relaxcheck.generators.core.program import GRADIENT, Input
from relaxcheck.generators.targets import LLVM, TARGETS
from relaxcheck.oracles.answer import Array, Bounded
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.reference import accuracy
from relaxcheck.oracles.reference.accuracy import Accuracy
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.evaluate import OPERATORS, evaluate
from tests.oracles import programs

OPENCL = accuracy.TARGETS["opencl"]


def of(operator: str, target: str, *operands: Array) -> Bounded:
    names = "abc"[: len(operands)]
    tensors = [
        Input(name, each.shape, str(each.dtype)) for name, each in zip(names, operands, strict=True)
    ]
    program = programs.one_node(operator, tensors)
    (result,) = evaluate(program, dict(zip(names, operands, strict=True)), target=target)
    return result


def off_by(ulps: float, wanted: Bounded) -> Array:
    dtype = np.dtype(wanted.dtype)
    exact = wanted.value.astype(dtype)
    return exact + np.array(ulps * np.spacing(exact), dtype)


@pytest.mark.parametrize(
    ("operator", "operands", "most"),
    [
        ("power", ((1.3, 2.7), (2.5, -1.5)), 16),
        ("erf", ((0.3, 1.2),), 16),
        ("sin", ((0.5, 2.0),), 4),
        ("divide", ((1.0, 2.0), (3.0, 7.0)), 2),
        # The quotients are numbers of the format.
        ("divide", ((6.0, -9.0), (3.0, 3.0)), 2),
        ("sqrt", ((4.0, 9.0),), 3),
    ],
)
def test_as_much_as_the_table_grants(
    operator: str, operands: tuple[tuple[float, ...], ...], most: int
) -> None:
    arrays = [np.array(each, np.float32) for each in operands]
    granted, usual = (of(operator, target, *arrays) for target in ("opencl", LLVM))
    assert np.array_equal(granted.value, usual.value)
    assert within(off_by(most, granted), granted).ok
    assert not within(off_by(most, granted), usual).ok
    # Each bound is at most a unit of rounding wider, where a value is next to a power of two.
    assert not within(off_by(2 * most + 2, granted), granted).ok


def test_sums_products_and_quotients_of_doubles_are_rounded_correctly() -> None:
    x, y = np.array([1.25, 3.0], np.float32), np.array([0.1, 7.0], np.float32)
    for operator in ("add", "multiply", "maximum", "subtract"):
        assert np.array_equal(of(operator, "opencl", x, y).bound, of(operator, LLVM, x, y).bound)
    wide = x.astype(np.float64), y.astype(np.float64)
    for operator in ("divide", "add"):
        granted, usual = (of(operator, target, *wide) for target in ("opencl", LLVM))
        assert np.array_equal(granted.bound, usual.bound)
    assert (of("power", "opencl", *wide).bound > of("power", LLVM, *wide).bound).all()


def test_narrower_formats_are_granted_less() -> None:
    x, y = (np.array(each, np.float16) for each in ((1.5, 3.0), (2.0, 3.0)))
    granted, usual = (of("power", target, x, y) for target in ("opencl", LLVM))
    assert within(off_by(4, granted), granted).ok
    assert not within(off_by(7, granted), granted).ok
    assert not within(off_by(4, granted), usual).ok
    assert np.array_equal(of("exp", "opencl", x).bound, of("exp", LLVM, x).bound)
    wide = x.astype(ml_dtypes.bfloat16)
    assert np.array_equal(of("exp", "opencl", wide).bound, of("exp", LLVM, wide).bound)


def test_what_is_infinite_stays_certain() -> None:
    result = of("divide", "opencl", np.array([0.0, 1.0], np.float32), np.array([2.0, 0.0], "f4"))
    assert result.value[0] == 0
    assert result.bound[0] == of("divide", LLVM, np.float32([0.0]), np.float32([2.0])).bound[0]
    assert np.isinf(result.bound[1])


def test_every_name_is_an_operator_of_the_reference_and_every_function_has_a_figure() -> None:
    assert accuracy._USED.keys() <= OPERATORS.keys() | {"grad.nll_loss_backward"}
    single, double, half = (OPENCL.tables[f"float{bits}"] for bits in (32, 64, 16))
    assert {name for names in accuracy._USED.values() for name in names} == single.keys()
    assert double.keys() == single.keys() - {"divide", "sqrt"}
    assert all(figure < single[name] for name, figure in half.items())
    assert accuracy.TARGETS.keys() <= TARGETS.keys()
    assert LLVM not in accuracy.TARGETS


def test_a_gradient_may_be_computed_by_any_function() -> None:
    assert OPENCL.units(GRADIENT, "float32") == OPENCL.tables["float32"]
    assert not OPENCL.units("add", "float32")
    assert not Accuracy({}).units("exp", "float32")


def test_integers_stay_exact() -> None:
    assert not of("abs", "opencl", np.array([-1, 2], np.int32)).bound.any()


def test_a_function_has_as_many_times_more_as_the_reference_assumes_of_it() -> None:
    ours = Estimate(np.ones(1, np.longdouble), np.full(1, 1e-3), "float32")
    for operator, assumed in (("divide", 0.5), ("sqrt", 0.5), ("exp", 2)):
        granted = Accuracy({"float32": {operator: 8.0}}).widened(operator, ours)
        assert granted.error[0] == 1e-3 * 8 / assumed, operator
