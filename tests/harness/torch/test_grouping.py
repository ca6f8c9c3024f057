"""Programs exported as one come out as they do alone."""

import re

import pytest
import torch
from msgspec.structs import replace
from torch.export import ExportedProgram

from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.torch.case import BOUNDED, NAMED, Exporting, TorchCase
from relaxcheck.generators.torch.program import Branch, Many, Node, Program, Ref, Tensor
from relaxcheck.harness.torch.grouping import NotExported, export_alone, export_together
from relaxcheck.oracles.torch.exported import outputs
from tests.harness.torch.programs import chain, holding, of


def branching() -> TorchCase:
    """Control flow, whose branches are graphs of their own."""
    branches = tuple(
        Branch(("a",), (Node(target, (Ref("a"),), outputs=("b",)),), ("b",))
        for target in ("torch.sin", "torch.cos")
    )
    program = Program(
        (Tensor("x", (2, 3)),),
        (
            Node("torch.any", (Ref("x"),), outputs=("chosen",)),
            Node("torch.cond", (Ref("chosen"), *branches, Many((Ref("x"),)))),
        ),
        ("y",),
    )
    return TorchCase("torch-branching", program)


def plain(program: ExportedProgram) -> str:
    """The text of ``program`` without the numbers of names, nor remarks."""
    text = re.sub(r"[ \t]*#.*", "", str(program))
    return re.sub(r"(?:_\d+)+\b", "", re.sub(r"\b([su])\d+\b", r"\1", text))


@pytest.mark.parametrize(
    "how",
    [Exporting(), Exporting(decomposed=False), Exporting(NAMED), Exporting(BOUNDED)],
    ids=["decomposed", "undecomposed", "named", "bounded"],
)
def test_programs_of_a_group_are_those_exported_alone(how: Exporting) -> None:
    cases = [
        replace(case, exporting=how)
        for case in (chain(), holding(), of("torch.relu"), holding(seed=5), branching(), chain())
    ]
    for case, program in zip(cases, export_together(cases), strict=True):
        assert isinstance(program, ExportedProgram)
        alone = export_alone(case)
        assert plain(program) == plain(alone)
        assert set(program.state_dict) == set(alone.state_dict)
        values = [arrays(case, 0)[tensor.name] for tensor in case.program.inputs]
        for own, other in zip(outputs(program, values), outputs(alone, values), strict=True):
            assert (own == other).all()
        result = program.module()(*map(torch.from_numpy, values))
        assert isinstance(result, tuple) is (len(case.program.outputs) > 1)


def test_a_program_that_is_refused_leaves_the_others() -> None:
    marks: list[int | None] = []
    cases = [of("torch.relu"), of("torch.Tensor.view", 5), of("torch.neg"), of("torch.sin")]
    made = export_together(cases, marks.append)
    assert [isinstance(each, NotExported) for each in made] == [False, True, False, False]
    assert "shape '[5]' is invalid for input of size 6" in str(made[1])
    assert marks[0] is None
    assert 1 in marks


def test_symbols_of_two_programs_stay_apart_though_of_one_name() -> None:
    """As one dimension, neither could have a size of its own."""
    other = replace(chain(), bindings=({"B": 5},))
    how = Exporting(NAMED)
    made = export_together([replace(each, exporting=how) for each in (chain(), other)])
    for program, size in zip(made, (7, 4), strict=True):
        assert isinstance(program, ExportedProgram)
        assert program.module()(torch.ones(size, 3)).shape == (size, 1)
