"""Losses and the gradient of one: the three agree, at values that are worked out here."""

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Below, Literal, Positive, Random
from relaxcheck.generators.core.program import Program
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators.training import losses
from tests.oracles.agreeing import agree, agree_on, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

CROSS, LOSS, BACKWARD = (
    "nn.cross_entropy_with_logits",
    "nn.nll_loss",
    "grad.nll_loss_backward",
)
FLOATS = ("float16", "bfloat16", "float32", "float64")
REGIMES = ("normal", "exact", "moderate", "boundary", "special")
REDUCTIONS = ("mean", "sum", "none")
SHAPES = ((3, 4), (4,), (2, 3, 5), (2, 3, 2, 2), (1, 1), (0, 3), (2, 3, 0))

Shape = tuple[int, ...]


def _others(shape: Shape) -> Shape:
    return (shape[0], *shape[2:]) if len(shape) > 1 else ()


def _classes(shape: Shape) -> int:
    return shape[1] if len(shape) > 1 else shape[0]


def _program(
    name: str, shape: Shape, dtype: str, reduction: str, weights: bool, index: int
) -> Program:
    """A call of ``name`` whose targets are any classes."""
    targets, classes = _others(shape), _classes(shape)
    parts = [(shape, dtype, Random()), (targets, "int64", Below(classes))]
    if weights:
        parts.append(((classes,), dtype, Positive(0.5)))
    if name == BACKWARD:
        parts.insert(0, (targets if reduction == "none" else (), dtype, Random()))
    shapes, dtypes, fills = zip(*parts, strict=True)
    return program_of(name, shapes, dtypes, fills, reduction=reduction, ignore_index=index)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", [LOSS, BACKWARD])
def test_every_reduction(name: str, shape: Shape, dtype: str) -> None:
    for reduction in REDUCTIONS:
        for weights in (False, True):
            for index in (-100, 0):
                program = _program(name, shape, dtype, reduction, weights, index)
                for seed, regime in enumerate(REGIMES):
                    reference = agree(program, regime, seed)
                    certain = np.isfinite(reference.bound)
                    if regime == "normal":
                        # Where all is ignored, the mean is of nothing.
                        assert certain.all() or (reduction == "mean")
                    if regime == "exact" and reduction != "mean":
                        assert not reference.bound.any()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(3, 4), (4,), (2, 3, 5), (), (0, 4), (3, 0), (1,)])
def test_cross_entropy(shape: Shape, dtype: str) -> None:
    for regime in REGIMES:
        reference = agree(program_of(CROSS, [shape, shape], dtype), regime)
        if regime in ("normal", "exact") and shape[:1] != (0,):
            wrong_is_seen(reference)
        if shape == (0, 4):
            assert np.isinf(reference.bound).all()


def test_cross_entropy_of_four_numbers() -> None:
    fills = [Literal((1, 2, 3, 4)), Literal((0, 1, 0.5, 0.5))]
    for shape, loss in (((2, 2), -2.75), ((1, 4), -5.5), ((4,), -5.5)):
        reference = agree(program_of(CROSS, [shape, shape], "float32", fills))
        assert reference.value == loss


# Predictions of three classes for two places, the targets, and the weights of the classes.
X = Literal((1, 2, 3, 4, 5, 6))
W = Literal((1, 2, 4))


@pytest.mark.parametrize(
    ("targets", "index", "sums", "divisor"),
    [
        ((0, 2), -100, [-1, -24], 5),
        ((1, 2), 2, [-4, 0], 2),
        ((-100, 2), -100, [0, -24], 4),
        ((3, 1), 3, [0, -10], 2),
    ],
)
def test_the_loss_of_two_targets(
    targets: tuple[int, int], index: int, sums: list[float], divisor: float
) -> None:
    for reduction, wanted in (("none", sums), ("sum", sum(sums)), ("mean", sum(sums) / divisor)):
        program = program_of(
            LOSS,
            [(2, 3), (2,), (3,)],
            ("float32", "int32", "float32"),
            [X, Literal(targets), W],
            reduction=reduction,
            ignore_index=index,
        )
        np.testing.assert_allclose(agree(program).value, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("targets", "index", "slopes", "divisor"),
    [
        ((0, 2), -100, [[-1, 0, 0], [0, 0, -4]], 5),
        ((1, 2), 2, [[0, -2, 0], [0, 0, 0]], 2),
        ((-100, 2), -100, [[0, 0, 0], [0, 0, -4]], 4),
        ((3, 1), 3, [[0, 0, 0], [0, -2, 0]], 2),
    ],
)
def test_the_gradient_of_two_targets(
    targets: tuple[int, int], index: int, slopes: list[list[float]], divisor: float
) -> None:
    for reduction, shape, scales in (
        ("none", (2,), [[5], [3]]),
        ("sum", (), [[7]]),
        ("mean", (), [[7]]),
    ):
        program = program_of(
            BACKWARD,
            [shape, (2, 3), (2,), (3,)],
            ("float32", "float32", "int64", "float32"),
            [Literal(tuple(np.ravel(scales).tolist())), X, Literal(targets), W],
            reduction=reduction,
            ignore_index=index,
        )
        reference = agree(program)
        wanted = np.multiply(scales, slopes) / (divisor if reduction == "mean" else 1)
        np.testing.assert_allclose(reference.value, wanted, rtol=1e-6)
        wrong_is_seen(reference)


def test_nothing_is_left_to_average() -> None:
    loss = program_of(
        LOSS, [(1, 2), (1,)], ("float32", "int64"), [Random(), Literal((1,))], ignore_index=1
    )
    assert np.isinf(agree(loss).bound)
    backward = program_of(
        BACKWARD,
        [(), (1, 2), (1,)],
        ("float32", "float32", "int64"),
        [Random(), Random(), Literal((1,))],
        ignore_index=1,
    )
    reference = agree(backward)
    assert np.isinf(reference.bound).tolist() == [[False, True]]
    assert reference.value[0, 0] == 0


def test_an_ignored_prediction_may_be_multiplied_by_zero() -> None:
    program = program_of(
        LOSS, [(2, 2), (2,)], ("float32", "int64"), reduction="none", ignore_index=1
    )
    x = np.array([[1, np.nan], [np.nan, 2]], np.float32)
    reference = agree_on(program, {"x0": x, "x1": np.array([1, 0])})
    assert np.isinf(reference.bound).tolist() == [True, False]
    assert np.isnan(reference.value[1])


@pytest.mark.parametrize(
    ("shapes", "dtypes", "attributes", "why"),
    [
        ([(2, 3), (3,)], ("float32", "int64"), {}, "targets of shape"),
        ([(2, 3), (2, 1)], ("float32", "int64"), {}, "targets of shape"),
        ([(), ()], ("float32", "int64"), {}, "without an axis"),
        ([(2, 3), (2,)], ("float32", "float32"), {}, "no integers"),
        ([(2, 3), (2,), (2,)], ("float32", "int64", "float32"), {}, "weights of shape"),
        ([(2, 3), (2,), (3,)], ("float32", "int64", "float64"), {}, "dtypes differ"),
        ([(2, 3), (2,)], ("float32", "int64"), {"reduction": "average"}, "is unknown"),
    ],
)
def test_calls_that_do_not_fit_are_refused(
    shapes: list[Shape], dtypes: tuple[str, ...], attributes: dict[str, str], why: str
) -> None:
    program = program_of(LOSS, shapes, dtypes, **attributes)
    values = {
        f"x{at}": np.zeros(shape, dtype)
        for at, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True))
    }
    with pytest.raises(ValueError, match=why):
        evaluate(program, values)
    backward = program_of(BACKWARD, [(), *shapes], ("float32", *dtypes), **attributes)
    moved = {"x0": np.zeros((), "float32")}
    moved |= {f"x{int(name[1:]) + 1}": value for name, value in values.items()}
    with pytest.raises(ValueError, match=why):
        evaluate(backward, moved)


def test_a_target_that_is_no_class_and_not_ignored_is_refused() -> None:
    program = program_of(LOSS, [(2, 3), (2,)], ("float32", "int64"))
    for target in (3, -1):
        values = {"x0": np.zeros((2, 3), np.float32), "x1": np.array([0, target])}
        with pytest.raises(ValueError, match="a target is neither"):
            evaluate(program, values)


def test_a_gradient_has_the_shape_of_the_loss() -> None:
    for reduction, shape in (("mean", (2,)), ("sum", (1,)), ("none", ())):
        program = program_of(
            BACKWARD,
            [shape, (2, 3), (2,)],
            ("float32", "float32", "int64"),
            reduction=reduction,
        )
        values = {
            "x0": np.zeros(shape, np.float32),
            "x1": np.zeros((2, 3), np.float32),
            "x2": np.zeros(2, np.int64),
        }
        with pytest.raises(ValueError, match="a gradient of shape"):
            evaluate(program, values)


def test_the_module_holds_these_operators_alone() -> None:
    assert declared_in(losses) == {CROSS, LOSS, BACKWARD}


def test_a_quotient_by_the_weights_is_off_by_what_its_parts_are() -> None:
    def of(value: list[float], error: list[float]) -> Estimate:
        return Estimate(np.array(value, np.longdouble), np.array(error), "float32")

    gradient = of([8.0, 8.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0])
    flags = np.zeros(4, np.bool_)
    taken = losses._Taken(
        np.zeros(4, np.int64), flags, ~flags, of([1.0] * 4, [0.0] * 4), reduction="mean"
    )
    result = losses._quotient(gradient, taken)
    assert result.value.tolist() == [2, 2, 0, 0]
    assert 0 < result.error[0] < 1e-6
    assert 0.25 <= result.error[1] < 0.2501
    assert result.error[2] == 0
    assert 0.25 <= result.error[3] < 0.2501
