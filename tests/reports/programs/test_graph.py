from itertools import combinations

import pytest

from relaxcheck.generators.core.axes import cases
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.core.sampling import draw
from relaxcheck.generators.families import families
from relaxcheck.generators.operators.family import OperatorFamily
from relaxcheck.reports.programs.graph import picture
from relaxcheck.reports.rendering import Box

FAMILIES = families(("build",))
TWICE = Program(
    (Input("x", (2,), "float32"), Input("late", (2,), "float32", constant=True)),
    (Node("y", "add", ("x", "x")), Node("z", "add", ("y", "late"))),
    ("y", "z"),
)


def apart(box: Box, other: Box) -> bool:
    return (
        box.x + box.width <= other.x
        or other.x + other.width <= box.x
        or box.y + box.height <= other.y
        or other.y + other.height <= box.y
    )


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_boxes_lie_apart_within_the_picture_and_edges_go_down(family: OperatorFamily) -> None:
    for case in draw(cases(family), 3, 5):
        assert_is_orderly(case.program)


def test_what_two_nodes_use_has_two_edges() -> None:
    assert_is_orderly(TWICE)


def assert_is_orderly(program: Program) -> None:
    result = picture(program)
    assert all(apart(*pair) for pair in combinations(result.boxes, 2))
    for box in result.boxes:
        assert box.x >= 0
        assert box.y >= 0
        assert box.x + box.width <= result.width
        assert box.y + box.height <= result.height
    assert all(edge.y2 > edge.y1 for edge in result.edges)
    uses = {(argument, node.name) for node in program.nodes for argument in node.arguments}
    assert len(result.edges) == len(uses) + len(program.outputs)


def test_a_box_says_what_it_is_and_an_input_stands_above_its_user() -> None:
    result = {box.lines: box for box in picture(TWICE).boxes}
    assert result["late", "float32[2]"].kind == "constant"
    assert result["add", "→ z"].kind == "operator"
    assert {"output 0", "output 1"} <= {lines[0] for lines in result}
    assert result["late", "float32[2]"].y == result["add", "→ y"].y
    assert picture(TWICE).description == "y = add(x, x); z = add(y, late); outputs y, z"


def test_a_program_without_a_node_has_a_picture() -> None:
    program = Program((Input("x", (2,), "float32"),), (), ("x",))
    assert [box.lines[0] for box in picture(Case("toy", program).program).boxes] == ["x", "output"]
