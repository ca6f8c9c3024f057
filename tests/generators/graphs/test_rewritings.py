"""Rewritings: nodes that change, and results that do not."""

import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.program import CALL, Input, Node, Program, ShapeValue
from relaxcheck.generators.core.structure import ELEMENT, TUPLE
from relaxcheck.generators.graphs.relations import RELATIONS
from tests.generators.graphs.test_relations import related_at

X = Input("x", (4, 3), "float32")
SHARED = Program(
    (X,),
    (
        Node("a", "exp", ("x",)),
        Node("b", "negative", ("a",)),
        Node("y", "add", ("a", "b")),
    ),
    ("y",),
)


def rewritten(name: str, program: Program) -> Program:
    result, rows = related_at(name, program, ({},), 1)
    assert rows == ({},)
    return result


def operators(program: Program) -> list[str]:
    return [node.operator for node in program.nodes]


def test_each_further_user_has_a_call_of_its_own() -> None:
    program = rewritten("computed again", SHARED)
    assert operators(program) == ["exp", "exp", "negative", "add"]
    uses = [name for node in program.nodes for name in node.arguments if name != "x"]
    assert len(set(uses)) == len(uses) == 3


def test_a_call_within_a_function_stands_in_the_program() -> None:
    inner = Program((replace(X, name="z"),), (Node("i", "tanh", ("z",)),), ("i",))
    call = Node("c", CALL, ("x",), {"function": "inner", "sizes": ShapeValue(())})
    program = Program((X,), (call,), ("c",), {"inner": inner})
    assert rewritten("inlined", program) == Program((X,), (Node("c", "tanh", ("x",)),), ("c",))


def test_constants_are_passed_and_static_inputs_constant() -> None:
    inputs = (X, replace(X, name="w", constant=True), replace(X, name="s", shape=("n", 3)))
    program = Program(inputs, SHARED.nodes, ("y",))
    result, _ = related_at("constants", program, ({"n": 2},), 1)
    assert [each.constant for each in result.inputs] == [True, False, False]


def test_one_input_is_passed() -> None:
    assert rewritten("constants", SHARED) == SHARED


def test_results_come_from_a_tuple() -> None:
    program = rewritten("tuple", SHARED)
    assert operators(program) == ["exp", "negative", "add", TUPLE, ELEMENT]
    assert program.outputs == ("y",)
    assert program.nodes[-1].name == "y"


def test_dead_code_is_used_by_itself_alone() -> None:
    program = rewritten("dead code", SHARED)
    assert operators(program) == ["exp", "exp", "negative", "negative", "add", "add"]
    kept = {"a", "b", "y"}
    for node in program.nodes:
        assert node.name not in kept or set(node.arguments) <= {"x", *kept}


def test_a_function_by_element_is_computed_in_two_parts() -> None:
    program = rewritten("split", SHARED)
    assert operators(program)[:5] == ["strided_slice", "exp", "strided_slice", "exp", "concat"]
    axis = program.nodes[4].attributes["axis"]
    bounds = [program.nodes[at].attributes[side][0] for at in (0, 2) for side in ("begin", "end")]  # type: ignore[index]
    assert (bounds[0], bounds[1], bounds[3]) == (0, bounds[2], X.shape[int(str(axis))])


@pytest.mark.parametrize("name", ["computed again", "inlined", "split"])
def test_a_program_that_has_nothing_to_rewrite_stays(name: str) -> None:
    program = Program((X,), (Node("y", "add", ("x", "x")),), ("y",))
    assert rewritten(name, program) == program


def test_unknown_sizes_are_not_doubled() -> None:
    program = replace(SHARED, counted=("k",))
    for name in ("computed again", "dead code"):
        assert rewritten(name, program) == program
    assert set(RELATIONS) >= {"computed again", "dead code"}
