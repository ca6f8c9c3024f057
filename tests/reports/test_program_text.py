"""The text of a program builds the module that its case is."""

from typing import Any, Literal

import msgspec
import numpy as np
import pytest
import tvm
from tvm import relax, te, tirx
from tvm.script import relax as R

from generators import dynamic
from generators.axes import complete
from generators.dynamic_templates import TEMPLATES
from generators.emission import emit
from generators.families import families
from generators.program import Case, Input, Node, Program
from generators.relations import RELATIONS
from generators.values import constants
from harness.pipelines import PIPELINES
from reports.program_text import program_lines
from tests.generators.drawn import at_random

FAMILY = dynamic.family(("build",))


def _built(case: Case) -> Any:
    names = {one.name: one.name for one in (*case.program.inputs, *case.program.nodes)}
    scope: dict[str, Any] = {"tvm": tvm, "relax": relax, "te": te, "tirx": tirx, "R": R, "np": np}
    exec("\n".join(program_lines(case, names)), scope)
    if PIPELINES[case.pipeline].constants_as_parameters:
        return scope["program"]()
    held = constants(case)
    return scope["program"](*(held[one.name] for one in case.program.inputs if one.constant))


def _same(case: Case) -> None:
    apart = PIPELINES[case.pipeline].constants_as_parameters
    wanted = emit(case, constants_as_parameters=apart)
    tvm.ir.assert_structural_equal(_built(case), wanted)


@pytest.mark.parametrize("focus", dynamic.STEPS)
def test_of_each_step(focus: str) -> None:
    for seed, pipeline in enumerate(("build", "fold-constants")):
        case = FAMILY.build(complete(FAMILY.axes, {"focus": focus}), seed)
        _same(msgspec.structs.replace(case, pipeline=pipeline))


@pytest.mark.parametrize("form", TEMPLATES)
def test_of_templates(form: str) -> None:
    _same(FAMILY.build(complete(FAMILY.axes, {"form": form}), 0))


def test_of_the_other_families() -> None:
    for family in families(("build",)):
        if "2d" in family.name or "attention" in family.name:
            for seed, point in enumerate(at_random(family.axes, 5)):
                if "bfloat16" not in str(point["dtype"]):
                    _same(family.build(point, seed))


@pytest.mark.parametrize("relation", RELATIONS)
def test_of_a_program_written_in_another_way(relation: str) -> None:
    for form in ("derived: twice", "function", "padded", "cache"):
        _same(FAMILY.build(complete(FAMILY.axes, {"form": form, "relation": relation}), 1))


@pytest.mark.parametrize("told", ["shape", "scalars"])
def test_no_two_variables_are_called_the_same(told: Literal["shape", "scalars"]) -> None:
    x = Input("x", ("sizes", "m", "size_of_m"), "float32")
    program = Program((x,), (Node("y", "nn.relu", ("x",)),), ("y",), told=told)
    _same(Case("dynamic", program, ({"sizes": 2, "m": 3, "size_of_m": 4},)))
