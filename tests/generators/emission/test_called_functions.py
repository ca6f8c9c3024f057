"""Calls of functions: modules are well-formed, and compute what the functions mean."""

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relaxcheck import fixes
from relaxcheck.generators.core.called.meanings import (
    CALLS,
    DPS_PACKED,
    FUNCTIONS,
    INPLACE_PACKED,
    PURE_PACKED,
    TIR_INPLACE,
    WITH_GRAD,
)
from relaxcheck.generators.core.case import IllFormed, Valid
from relaxcheck.generators.core.program import CLOSURES, Case, Input, Node, Program, ShapeValue
from relaxcheck.generators.emission.programs import emit
from relaxcheck.generators.families import families
from relaxcheck.generators.operators.family import OperatorFamily
from tests.generators.core.test_called import BY_HAND, X, Y, called
from tests.generators.drawn import PIPELINES, at_random

FAMILIES = [family for family in families(PIPELINES) if family.operator in {*CALLS, *CLOSURES}]

TIR = [name for name, function in FUNCTIONS.items() if function.results[0].tensor]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_case_is_well_formed(family: OperatorFamily) -> None:
    for seed, point in enumerate(at_random(family.axes, 25)):
        assert relax.analysis.well_formed(emit(family.build(point, seed))) is not False


def results(program: Program) -> list[Any]:
    """The outputs of ``program`` on X and Y."""
    undefined = IllFormed(()) if not program.symbols else Valid()
    assert undefined == Valid()
    module = emit(Case("none", program, ({"n": 2},)))
    with fixes.install():
        executable = relax.build(module, "llvm")
        machine = relax.VirtualMachine(executable, tvm.cpu())
        made = machine["main"](*map(tvm.runtime.tensor, (X, Y)))
    return [made.numpy()] if hasattr(made, "numpy") else [each.numpy() for each in made]


@pytest.mark.parametrize(
    ("operator", "function"),
    [
        *((WITH_GRAD, name) for name in TIR),
        *((operator, name) for operator in (DPS_PACKED, PURE_PACKED) for name in FUNCTIONS),
    ],
)
def test_a_function_computes_what_it_means(operator: str, function: str) -> None:
    further = {"te_grad_name": "none"} if operator == WITH_GRAD else {}
    for result, wanted in zip(
        results(called(function, operator, **further)), BY_HAND[function], strict=True
    ):
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("operator", [TIR_INPLACE, INPLACE_PACKED])
@pytest.mark.parametrize(
    ("function", "indices"),
    [
        ("opposite", (0,)),
        ("difference", (0,)),
        ("difference", (1,)),
        ("opposites", (0, 1)),
        ("opposites", (-1, 1)),
        ("opposite_and_sum", (0, -1)),
        ("sum_and_opposite", (-1, 0)),
    ],
)
def test_a_result_may_overwrite_an_argument(
    operator: str, function: str, indices: tuple[int, ...]
) -> None:
    program = called(function, operator, inplace_indices=indices)
    # What is overwritten is a copy.
    copies = tuple(Node(f"{name}_copy", "maximum", (name, name)) for name in "xy")
    nodes = tuple(
        Node(node.name, operator, tuple(f"{name}_copy" for name in node.arguments), node.attributes)
        for node in program.nodes
    )
    copied = Program(program.inputs, (*copies, *nodes), program.outputs)
    for result, wanted in zip(results(copied), BY_HAND[function], strict=True):
        np.testing.assert_array_equal(result, wanted)


def test_results_of_a_packed_function_may_overwrite_each_the_other_argument() -> None:
    family = next(each for each in FAMILIES if each.operator == INPLACE_PACKED)
    assert "1, 0" in next(axis for axis in family.axes if axis.name == "overwritten").values
    other = next(each for each in FAMILIES if each.operator == TIR_INPLACE)
    assert "1, 0" not in next(axis for axis in other.axes if axis.name == "overwritten").values


@pytest.mark.parametrize("operator", CLOSURES)
def test_a_closure_binds_its_last_arguments(operator: str) -> None:
    function = Program(
        tuple(Input(name, ("m", 3), "float32") for name in "ab"),
        (Node("d", "subtract", ("a", "b")),),
        ("d",),
    )
    own: dict[str, Any] = {
        "function": "inner",
        "captured": 1,
        "sizes": ShapeValue(("n",)),
        "shape": ShapeValue(("n", 3)),
        "dtype": "float32",
    }
    program = Program(
        tuple(Input(name, ("n", 3), "float32") for name in "xy"),
        (Node("r", operator, ("x", "y"), own), Node("s", operator, ("r", "y"), own)),
        ("r", "s"),
        {"inner": function},
    )
    once, twice = results(program)
    np.testing.assert_array_equal(once, X - Y)
    np.testing.assert_array_equal(twice, X - 2 * Y)
    main = emit(Case("none", program, ({"n": 2},)))["main"]
    assert bool(main.is_pure) == (operator == "invoke_pure_closure")
    # Both calls are of one closure.
    assert str(main).count("make_closure") == 1
