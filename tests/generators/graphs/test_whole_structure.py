"""Structure around whole graphs: there where it fits, and the same program without it."""

import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.program import Case, Program
from relaxcheck.generators.core.structure import PASSING
from relaxcheck.generators.graphs.whole.family import PIPELINES, family
from relaxcheck.generators.graphs.whole.structure import STRUCTURES
from relaxcheck.harness.programs import wellformed
from relaxcheck.harness.programs.vetting import reference

FAMILY = family(PIPELINES)


def _cases(structure: str) -> list[Case]:
    points = ({"nodes": nodes, "fragment": "residual"} for nodes in (4, 8, 16, 24))
    return [
        FAMILY.build(complete(FAMILY.axes, {**point, "structure": structure}), seed)
        for seed, point in enumerate((*points,) * 2)
    ]


def _has(structure: str, program: Program) -> bool:
    operators = {node.operator for node in program.nodes}
    return {
        "plain": not program.functions and not program.apart and "tuple" not in operators,
        "function": "call" in operators,
        "tuple of arguments": any(PASSING in node.attributes for node in program.nodes),
        "if": "if" in operators,
        "tuple": {"tuple", "tuple_item"} <= operators,
        "blocks": bool(program.apart),
        "mixed": len({"call", "if", "tuple"} & operators) + bool(program.apart) >= 2,
    }[structure]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_most_programs_have_it_and_all_are_valid(structure: str) -> None:
    cases = _cases(structure)
    assert sum(_has(structure, case.program) for case in cases) >= 5
    for case in cases:
        wellformed.check(case)
        known = reference(case)
        assert not known.refused, known.refused


@pytest.mark.parametrize("structure", ["function", "tuple of arguments", "tuple", "blocks"])
def test_the_outputs_are_those_of_the_plain_program(structure: str) -> None:
    for case, plain in zip(_cases(structure), _cases("plain"), strict=True):
        ours, theirs = reference(case).values, reference(plain).values
        for name, other in zip(case.program.outputs, plain.program.outputs, strict=True):
            assert name == other or structure == "tuple"
            if name in ours and other in theirs:
                assert ours[name] == theirs[other]


def test_functions_take_and_give_more_than_is_used() -> None:
    points = [{"nodes": 16, "structure": "function"}]
    cases = [FAMILY.build(complete(FAMILY.axes, points[0]), seed) for seed in range(40)]
    functions = [each for case in cases for each in case.program.functions.values()]
    used = [{name for node in each.nodes for name in node.arguments} for each in functions]
    assert any({i.name for i in f.inputs} - u for f, u in zip(functions, used, strict=True))
    assert any(len(f.outputs) > 1 for f in functions)
    assert all(case == replace(case) for case in cases)
