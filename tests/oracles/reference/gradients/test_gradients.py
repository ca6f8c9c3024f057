"""Gradients of the reference: worked out by hand, by differences, and by PyTorch."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import pytest

from relaxcheck.generators.core.gradients import forward, gradients
from relaxcheck.generators.core.program import GRADIENT, Case, Input, Node, Program
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.generators.core.values import Array, arrays
from relaxcheck.generators.gradients.family import PIPELINES, GradientFamily, families
from relaxcheck.harness.programs.judge import expected
from relaxcheck.oracles.answer import Bounded, Unsupported
from relaxcheck.oracles.onnxruntime.evaluate import evaluate as onnx_runtime
from relaxcheck.oracles.pytorch.evaluate import evaluate as pytorch
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.gradients.rules import GRADIENTS
from tests.generators.drawn import at_random

FAMILIES = families(PIPELINES)


def differentiated(
    operator: str, operands: Mapping[str, Array], weights: Array, **attributes: object
) -> list[Bounded]:
    """The gradients of the sum of ``operator``'s result times ``weights``, by the reference.

    PyTorch lies within their bounds.
    """
    inputs = [Input(name, each.shape, str(each.dtype)) for name, each in operands.items()]
    inputs.append(Input("w", weights.shape, str(weights.dtype)))
    nodes = [
        Node("y", operator, tuple(operands), dict(attributes)),  # type: ignore[arg-type]
        Node("p", "multiply", ("y", "w")),
        Node("s", "sum", ("p",)),
    ]
    floats = [name for name, each in operands.items() if each.dtype.kind == "f"]
    nodes += [Node(f"g_{name}", GRADIENT, ("s", name)) for name in floats]
    program = Program(tuple(inputs), tuple(nodes), tuple(f"g_{name}" for name in floats))
    values = {**operands, "w": weights}
    result = list(evaluate(program, values))
    _hold(result, pytorch(program, values))
    return result


def _hold(wanted: Sequence[Bounded], actual: Sequence[Array]) -> None:
    for reference, array in zip(wanted, actual, strict=True):
        assert array.shape == reference.value.shape
        free = np.isinf(reference.bound)
        assert (free | (np.abs(array - reference.value) <= reference.bound)).all()


def test_a_product_that_overflows_in_another_order_is_open() -> None:
    # PyTorch multiplies 2 by the power first, which is more than float32 holds.
    a, b = (np.array([each], "float32") for each in (2e38, 2))
    (of_a, _) = differentiated("power", {"a": a, "b": b}, np.array([1e-8], "float32"))
    assert of_a.bound == [np.inf]
    (of_a, _) = differentiated("power", {"a": a / 2, "b": b}, np.array([1e-8], "float32"))
    assert of_a.bound < 1e25
    assert of_a.value == pytest.approx(2e30, rel=1e-6)


def _floats(*values: object) -> list[Array]:
    return [np.array(each, "float32") for each in values]


@pytest.mark.parametrize(
    ("operator", "operands", "weights", "wanted", "attributes"),
    [
        ("multiply", ([[1, 2], [3, 4]], 5), [[1, 1], [1, 2]], ([[5, 5], [5, 10]], 14), {}),
        ("subtract", ([1, 2], 3), [4, 5], ([4, 5], -9), {}),
        ("divide", ([8, 4], [2, 4]), [1, 8], ([0.5, 2], [-2, -2]), {}),
        ("power", ([2, 4], [3, 1]), [1, 2], ([12, 2], [8 * np.log(2), 8 * np.log(4)]), {}),
        ("sqrt", ([4, 16],), [1, 2], ([0.25, 0.25],), {}),
        ("cumsum", ([1, 2, 3],), [1, 2, 4], ([7, 6, 4],), {}),
        ("cumsum", ([1, 2, 3],), [1, 2, 4], ([6, 4, 0],), {"exclusive": True}),
        ("mean", ([[1, 2], [3, 4]],), [2, 4], ([[1, 1], [2, 2]],), {"axis": -1}),
        ("variance", ([1, 3],), 4, ([-4, 4],), {}),
        ("permute_dims", ([[1, 2, 3]],), [[4], [5], [6]], ([[4, 5, 6]],), {}),
        ("broadcast_to", ([1, 2],), [[1, 2], [3, 4]], ([4, 6],), {"shape": (2, 2)}),
        ("triu", ([[1, 2], [3, 4]],), [[5, 6], [7, 8]], ([[5, 6], [0, 8]],), {"k": 0}),
        ("matmul", ([1, 2], [[1, 2], [3, 4]]), [1, 10], ([21, 43], [[1, 10], [2, 20]]), {}),
        ("maximum", ([1, 5], [2, 3]), [7, 8], ([0, 8], [7, 0]), {}),
        ("nn.softmax", ([0, 0],), [1, 3], ([-0.5, 0.5],), {}),
        ("nn.log_softmax", ([0, 0],), [1, 3], ([-1, 1],), {}),
        ("nn.cross_entropy_with_logits", ([[1, 2]], [[3, 4]]), 2, ([[-6, -8]], [[-2, -4]]), {}),
        (
            "nn.conv2d",
            ([[[[1, 2, 3]]]], [[[[10, 20]]]]),
            [[[[1]]]],
            ([[[[10, 0, 20]]]], [[[[1, 3]]]]),
            {"dilation": (1, 2)},
        ),
    ],
)  # fmt: skip
def test_by_hand(
    operator: str,
    operands: tuple[object, ...],
    weights: object,
    wanted: tuple[object, ...],
    attributes: dict[str, object],
) -> None:
    named = {f"x{at}": each for at, each in enumerate(_floats(*operands))}
    made = differentiated(operator, named, *_floats(weights), **attributes)
    for result, value in zip(made, wanted, strict=True):
        np.testing.assert_allclose(result.value, value, rtol=1e-7, atol=1e-12)
        assert (result.bound < 1e-4).all()


def test_chosen_elements() -> None:
    condition = np.array([True, False, True])
    x, y, w = _floats([1, 2, 3], 4, [5, 6, 7])
    of_x, of_y = differentiated("where", {"c": condition, "a": x, "b": y}, w)
    assert of_x.value.tolist() == [5, 0, 7]
    assert of_y.value.tolist() == 6


def test_elements_that_are_taken_twice() -> None:
    x, w = _floats([1, 2, 3], [10, 20, 40])
    places = np.array([2, 0, 2])
    (made,) = differentiated("take", {"x": x, "i": places}, w, axis=0)
    assert made.value.tolist() == [20, 0, 50]


@pytest.mark.parametrize(
    ("operator", "operands"),
    [
        ("abs", ([0, 1],)),
        ("nn.relu", ([0, 1],)),
        ("maximum", ([2, 1], [2, 0])),
        ("abs", ([np.nan, np.inf],)),
        ("nn.relu", ([np.nan, -np.inf],)),
        ("maximum", ([np.inf, np.inf], [np.inf, 0])),
        ("minimum", ([-np.inf, 1], [-np.inf, np.inf])),
        ("maximum", ([np.nan, 1], [2, 0])),
    ],
)
def test_where_there_is_no_derivative_anything_is_right(
    operator: str, operands: tuple[object, ...]
) -> None:
    named = {f"x{at}": each for at, each in enumerate(_floats(*operands))}
    made = differentiated(operator, named, *_floats([1, 1]))
    assert all(np.isinf(each.bound).tolist() == [True, False] for each in made)


def test_a_tensor_that_is_used_twice_has_both_shares() -> None:
    x = Input("x", (2,), "float32")
    nodes = (
        Node("y", "multiply", ("x", "x")),
        Node("z", "add", ("y", "x")),
        Node("s", "sum", ("z",)),
        Node("g", GRADIENT, ("s", "x")),
    )
    program = Program((x,), nodes, ("s", "g"))
    values = {"x": np.array([3, 5], "float32")}
    total, made = evaluate(program, values)
    assert total.value == 42
    assert made.value.tolist() == [7, 11]
    _hold([total, made], pytorch(program, values))
    with pytest.raises(Unsupported, match="gradient"):
        onnx_runtime(program, values)


def test_what_the_target_does_not_depend_on_has_a_gradient_of_zeros() -> None:
    x = np.array([3, 5], "float32")
    (made,) = differentiated("zeros_like", {"x": x}, *_floats([1, 1]))
    assert made.value.tolist() == [0, 0]
    assert made.bound.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("shape", "dtype"), [((), "int64"), ((2,), "float32")], ids=["integers", "elements"]
)
def test_the_target_is_a_scalar_of_floats(shape: tuple[int, ...], dtype: str) -> None:
    x = Input("x", shape, dtype)
    nodes = (Node("y", "negative", ("x",)), Node("g", GRADIENT, ("y", "x")))
    with pytest.raises(ValueError, match="undefined"):
        evaluate(Program((x,), nodes, ("g",)), {"x": np.ones(shape, dtype)})


def test_an_operator_without_a_gradient_is_unsupported() -> None:
    x = Input("x", (2,), "float32")
    nodes = (Node("y", "erf", ("x",)), Node("s", "sum", ("y",)), Node("g", GRADIENT, ("s", "x")))
    with pytest.raises(Unsupported, match="no gradient of erf"):
        evaluate(Program((x,), nodes, ("g",)), {"x": np.ones(2, "float32")})


@pytest.fixture(params=FAMILIES, ids=lambda family: family.name)
def family(request: pytest.FixtureRequest) -> GradientFamily:
    made: GradientFamily = request.param
    return made


def test_pytorch_differentiates_alike(family: GradientFamily) -> None:
    for seed, point in enumerate(at_random(family.axes, 12, seed=3)):
        case = family.build(point, seed)
        for at, binding in enumerate(case.bindings):
            for regime in ("normal", "exact", "boundary"):
                program = static(case.program, binding)
                answer = expected(program, arrays(case, at, regime), mixed_precision=False)
                assert not answer.splits, (point, binding, regime)
                assert answer.agreeing == ("pytorch",)


def _in_doubles(program: Program) -> Program:
    """``program`` of operands in float64, so that differences of results tell something."""
    inputs = [
        msgspec.structs.replace(tensor, dtype="float64") if tensor.dtype == "float32" else tensor
        for tensor in program.inputs
    ]
    return msgspec.structs.replace(program, inputs=tuple(inputs))


def test_a_gradient_is_the_limit_of_differences(family: GradientFamily) -> None:
    """In a random direction, the target changes as much as its gradients say."""
    seen = 0
    for seed, point in enumerate(at_random(family.axes, 16, seed=5)):
        if "dtype" in point:
            point = {**point, "dtype": "float64"}
        case: Case = family.build(point, seed)
        program = _in_doubles(static(case.program, case.bindings[0]))
        if any("float32" in node.attributes.values() for node in program.nodes):
            # Differences are lost where something is rounded to single precision.
            continue
        values = {
            name: array.astype("float64") if array.dtype == np.float32 else array
            for name, array in arrays(case, 0, "normal").items()
        }
        made = gradients(program)
        only = msgspec.structs.replace(program, outputs=tuple(node.name for node in made))
        slopes = evaluate(only, values)
        if any(np.isinf(each.bound).any() for each in slopes):
            continue
        rng = np.random.default_rng(seed)
        turns = {
            node.arguments[1]: rng.standard_normal(values[node.arguments[1]].shape) for node in made
        }
        change = _along(forward(program), values, turns)
        wanted = sum(
            float((each.value * turns[node.arguments[1]]).sum())
            for node, each in zip(made, slopes, strict=True)
        )
        size = sum(
            float(np.abs(each.value * turns[node.arguments[1]]).sum())
            for node, each in zip(made, slopes, strict=True)
        )
        assert abs(change - wanted) <= 1e-4 * (size + 1e-3), point
        seen += 1
    assert seen > 1


def _along(program: Program, values: dict[str, Array], turns: Mapping[str, Array]) -> float:
    """The derivative of the scalar ``program`` in the direction ``turns``, by differences."""
    step = 1e-6

    def at(sign: int) -> float:
        moved = {
            name: array + sign * step * turns[name] if name in turns else array
            for name, array in values.items()
        }
        (result,) = evaluate(program, moved)
        return float(result.value)

    return (at(1) - at(-1)) / (2 * step)


def test_every_gradient_that_is_drawn_has_a_rule() -> None:
    assert {family.record.name for family in FAMILIES} <= GRADIENTS.keys()
