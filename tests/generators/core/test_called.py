"""Functions that programs call: what they mean, and which arguments they may overwrite."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.called import overwriting
from relaxcheck.generators.core.called.meanings import (
    DPS_PACKED,
    FUNCTIONS,
    INPLACE_PACKED,
    PURE_PACKED,
    TIR_INPLACE,
    WITH_GRAD,
    meant,
    result_shapes,
)
from relaxcheck.generators.core.program import ITEM, Input, Node, Program, ShapeValue
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.oracles.reference.evaluate import evaluate

X = np.array([[1, -2, 3], [0, 5, -4]], np.float32)
Y = np.array([[2, 2, 2], [1, 1, 1]], np.float32)

BY_HAND: dict[str, list[Any]] = {
    "opposite": [[[-1, 2, -3], [0, -5, 4]]],
    "turned": [[[1, 0], [-2, 5], [3, -4]]],
    "row_sum": [[2, 1]],
    "difference": [[[-1, -4, 1], [-1, 4, -5]]],
    "opposite_and_sum": [[[-1, 2, -3], [0, -5, 4]], [2, 1]],
    "sum_and_opposite": [[2, 1], [[-1, 2, -3], [0, -5, 4]]],
    "opposites": [[[-1, 2, -3], [0, -5, 4]], [[-2, -2, -2], [-1, -1, -1]]],
    "at_most": [[[1, -2, 2], [0, 2, -4]]],
    "clipped": [[[1, -1, 2], [0, 2, -1]]],
    "spread": [[[[1, -2, 3], [0, 5, -4]], [[1, -2, 3], [0, 5, -4]]]],
}
"""The results of each function on X and Y; a size of 2, the bounds -1 and 2."""

FURTHER: dict[str, Any] = {
    "at_most": {"extent": ShapeValue((2,))},
    "clipped": {"low": -1, "high": 2},
    "spread": {"lead": ShapeValue(("n", "n", 3))},
}


def attributes(function: str) -> dict[str, Any]:
    further = FURTHER.get(function, {})
    return {"function": function, "of": ShapeValue(("n", 3)), "dtype": "float32", **further}


def called(function: str, operator: str, **further: Any) -> Program:
    """A program of one call, on x and y."""
    inputs = tuple(Input(name, ("n", 3), "float32") for name in "xy")
    count = len(FUNCTIONS[function].results)
    own = {**attributes(function), **further}
    arguments = ("x", "y")[: FUNCTIONS[function].arguments]
    items: list[dict[str, Any]] = [{ITEM: at} for at in range(count)] if count > 1 else [{}]
    nodes = tuple(
        Node(f"r{at}", operator, arguments, {**own, **item}) for at, item in enumerate(items)
    )
    return Program(inputs, nodes, tuple(node.name for node in nodes))


def test_every_function_is_here() -> None:
    assert BY_HAND.keys() == FUNCTIONS.keys()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_operators_that_a_function_means_give_its_results(function: str) -> None:
    program = static(called(function, PURE_PACKED), {"n": 2})
    assert PURE_PACKED not in {node.operator for node in program.nodes}
    results = evaluate(program, {"x": X, "y": Y})
    for result, wanted in zip(results, BY_HAND[function], strict=True):
        np.testing.assert_array_equal(result.value, wanted)
        assert result.dtype == "float32"
        assert not result.bound.any() or function.count("sum")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_shapes_of_results(function: str) -> None:
    stated = result_shapes(Node("r", DPS_PACKED, ("x",), attributes(function)))
    assert [tuple(2 if dim == "n" else dim for dim in shape) for shape in stated] == [
        np.shape(wanted) for wanted in BY_HAND[function]
    ]


def test_a_size_is_an_operand_of_its_own() -> None:
    node = Node("r", WITH_GRAD, ("x",), {**attributes("at_most"), "extent": (2,)})
    size, smaller = meant(node)
    assert (size.operator, size.attributes["fill_value"]) == ("full", 2)
    assert (smaller.name, smaller.operator) == ("r", "minimum")
    assert smaller.arguments == ("x", size.name)


def overwritten(
    *later: Node, maker: str = "exp", indices: tuple[int, ...] = (0,), outputs: tuple[str, ...] = ()
) -> Program:
    """A program that overwrites the value v by its difference to x, then has ``later`` nodes."""
    inputs = tuple(Input(name, (2, 3), "float32") for name in "xy")
    own = {**attributes("difference"), "of": ShapeValue((2, 3)), "inplace_indices": indices}
    nodes = (
        Node("v", maker, ("y",)),
        Node("before", "abs", ("v",)),
        Node("r", TIR_INPLACE, ("v", "x"), own),
        *later,
    )
    return Program(inputs, nodes, outputs or (nodes[-1].name, "before"))


def test_a_value_that_nothing_reads_afterwards_may_be_overwritten() -> None:
    overwriting.check(overwritten())
    overwriting.check(overwritten(Node("z", "add", ("r", "before"))))


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (overwritten(Node("z", "add", ("r", "v"))), "node z reads v"),
        (overwritten(outputs=("r", "v", "before")), "v, which is used again"),
        (overwritten(indices=(1,)), "overwrites x, whose memory others have"),
        (overwritten(maker="reshape"), "overwrites v, whose memory others have"),
        (overwritten(indices=(2,)), r"inplace_indices \(2,\)"),
        (overwritten(indices=(-1,)), r"inplace_indices \(-1,\)"),
        (overwritten(indices=(-2,)), r"inplace_indices \(-2,\)"),
        (overwritten(indices=(0, 1)), r"inplace_indices \(0, 1\)"),
    ],
)
def test_a_program_that_overwrites_what_others_use_is_refused(program: Program, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        overwriting.check(program)


def test_items_of_one_call_overwrite_once() -> None:
    own = {**attributes("opposites"), "of": ShapeValue((2, 3)), "inplace_indices": (0, 1)}
    inputs = tuple(Input(name, (2, 3), "float32") for name in "xy")
    made = (Node("v", "exp", ("x",)), Node("w", "exp", ("y",)))

    def program(*items: int, arguments: tuple[str, ...] = ("v", "w")) -> Program:
        calls = tuple(
            Node(f"r{at}", INPLACE_PACKED, arguments, {**own, ITEM: item})
            for at, item in enumerate(items)
        )
        return Program(inputs, (*made, *calls), tuple(node.name for node in calls))

    overwriting.check(program(0, 1))
    overwriting.check(program(0, 1, 0))
    with pytest.raises(ValueError, match="v, which is used again"):
        overwriting.check(program(0, 1, arguments=("v", "v")))
    twice = Program(
        inputs,
        (*made, *(Node(f"r{at}", INPLACE_PACKED, ("v", "x"), _difference()) for at in range(2))),
        ("r0", "r1"),
    )
    with pytest.raises(ValueError, match="v, which is used again"):
        overwriting.check(twice)


def _difference() -> dict[str, Any]:
    return {**attributes("difference"), "of": ShapeValue((2, 3)), "inplace_indices": (0,)}
