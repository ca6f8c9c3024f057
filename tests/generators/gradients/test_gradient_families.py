"""Families of gradients: programs that one function differentiates, at points of the records."""

import pytest

from relaxcheck.generators.core.axes import complete, point_of
from relaxcheck.generators.core.case import CaseError, Valid, encode
from relaxcheck.generators.core.gradients import forward, gradients, places
from relaxcheck.generators.core.program import GRADIENT, Case, Input, Node, Program, decode
from relaxcheck.generators.families import every
from relaxcheck.generators.gradients.family import DTYPES, PIPELINES, GradientFamily, families
from relaxcheck.generators.gradients.table import DIFFERENTIABLE
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.harness.programs import wellformed
from tests.generators.drawn import at_random

FAMILIES = families(PIPELINES)

_X = Input("x", (2, 3), "float32")
_SUM = Node("s", "sum", ("x",))
_MADE = Node("g", GRADIENT, ("s", "x"))


@pytest.fixture(params=FAMILIES, ids=lambda family: family.name)
def family(request: pytest.FixtureRequest) -> GradientFamily:
    made: GradientFamily = request.param
    return made


def test_a_point_gives_gradients_in_all_operands_of_floats(family: GradientFamily) -> None:
    for seed, point in enumerate(at_random(family.axes, 40)):
        case = family.build(point, seed)
        wellformed.check(case)
        assert case.expect == Valid()
        assert point_of(family, case) == point
        assert decode(encode(case)) == case
        made = gradients(case.program)
        variables = [node.arguments[1] for node in made]
        assert variables
        weights = {name for name in variables if name.startswith("w") and name[1:].isdigit()}
        assert not weights
        assert "w" not in variables
        assert {case.program.input(name).dtype for name in variables} <= {*DTYPES}
        assert [node.name for node in made] == [
            name for name in case.program.outputs if name.endswith("_gradient")
        ]


def test_the_target_is_a_scalar_that_every_output_is_part_of(family: GradientFamily) -> None:
    for seed, point in enumerate(at_random(family.axes, 20)):
        program = family.build(point, seed).program
        whole = forward(program)
        used = {name for node in whole.nodes for name in node.arguments}
        assert whole.outputs == gradients(program)[0].arguments[:1]
        assert {node.name for node in whole.nodes} - used == {*whole.outputs}


def test_a_target_of_elements_that_may_be_none_is_not_returned() -> None:
    (family,) = (each for each in FAMILIES if each.name == "gradient-negative")
    static = family.build(complete(family.axes, {}), 0).program
    symbolic = family.build(complete(family.axes, {"symbolic": "first"}), 0).program
    assert places(static) == (0, 1)
    assert places(symbolic) == (1,)


def test_constants_of_an_operator_have_no_gradient() -> None:
    (family,) = (each for each in FAMILIES if each.name == "gradient-nll_loss")
    program = family.build(complete(family.axes, {"weights": True}), 0).program
    assert [node.arguments[1] for node in gradients(program)] == ["x0"]
    assert sum(tensor.dtype == "float32" for tensor in program.inputs) > 1


def test_the_families_are_named_after_operators_and_asked_for_by_name() -> None:
    names = {family.name for family in FAMILIES}
    assert len(names) == len(DIFFERENTIABLE) > 30
    assert names <= {family.name for family in every(PIPELINES)}
    assert all(name in OPERATORS for name in DIFFERENTIABLE)
    assert families(("mixed-precision",)) == ()


@pytest.mark.parametrize(
    ("nodes", "outputs"),
    [
        ([_SUM, Node("g", GRADIENT, ("x", "x"))], ["g"]),
        ([_SUM, Node("g", GRADIENT, ("s",))], ["g"]),
        ([_SUM, Node("g", GRADIENT, ("s", "s"))], ["g"]),
        ([_SUM, _MADE, Node("h", GRADIENT, ("s", "x"))], ["g", "h"]),
        ([_SUM, _MADE, Node("h", "negative", ("g",))], ["h"]),
    ],
)
def test_what_is_no_gradient_is_refused(nodes: list[Node], outputs: list[str]) -> None:
    with pytest.raises(ValueError, match="gradients: all are of one node"):
        Program((_X,), tuple(nodes), tuple(outputs))


def test_another_output_beside_gradients_is_refused() -> None:
    plus = Node("n", "negative", ("x",))
    program = Program((_X,), (plus, _SUM, _MADE), ("n", "g"))
    with pytest.raises(CaseError, match="output n is neither a gradient"):
        wellformed.check(Case("any", program))
