"""The text of a program builds the module that its case is."""

from typing import Any, Literal

import msgspec
import numpy as np
import pytest
import tvm
from tvm import relax, te, tirx
from tvm.script import relax as R

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.program import ITEM, Case, Input, Node, Program
from relaxcheck.generators.core.values import constants
from relaxcheck.generators.emission.programs import emit
from relaxcheck.generators.families import families
from relaxcheck.generators.graphs import family as dynamic
from relaxcheck.generators.graphs.programs import STEPS
from relaxcheck.generators.graphs.relations import RELATIONS
from relaxcheck.generators.graphs.templates import TEMPLATES
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.reports.programs.program_text import printed_names, program_lines
from tests.generators.drawn import at_random

FAMILY = dynamic.family(("build",))


def _built(case: Case) -> Any:
    names = {named.name: named.name for named in (*case.program.inputs, *case.program.nodes)}
    scope: dict[str, Any] = {"tvm": tvm, "relax": relax, "te": te, "tirx": tirx, "R": R, "np": np}
    exec("\n".join(program_lines(case, names)), scope)
    if PIPELINES[case.pipeline].constants_as_parameters:
        return scope["program"]()
    held = constants(case)
    return scope["program"](
        *(held[tensor.name] for tensor in case.program.inputs if tensor.constant)
    )


def _same(case: Case) -> None:
    apart = PIPELINES[case.pipeline].constants_as_parameters
    wanted = emit(case, constants_as_parameters=apart)
    built = _built(case)
    tvm.ir.assert_structural_equal(built, wanted)
    bindings = [binding for block in built["main"].body.blocks for binding in block.bindings]
    called = {
        str(binding.var): getattr(getattr(binding.value, "op", None), "name", "")
        for binding in bindings
    }
    printed = printed_names(case.program)
    for node in case.program.nodes if printed else ():
        assert printed[node.name] in called
        if f"relax.{node.operator}" in called.values() and ITEM not in node.attributes:
            assert called[printed[node.name]] == f"relax.{node.operator}"


@pytest.mark.parametrize("focus", STEPS)
def test_of_each_step(focus: str) -> None:
    for seed, pipeline in enumerate(("build", "fold-constants")):
        case = FAMILY.build(complete(FAMILY.axes, {"focus": focus}), seed)
        _same(msgspec.structs.replace(case, pipeline=pipeline))


@pytest.mark.parametrize("form", TEMPLATES)
def test_of_templates(form: str) -> None:
    _same(FAMILY.build(complete(FAMILY.axes, {"form": form}), 0))


def test_of_the_other_families() -> None:
    for family in families(("build",)):
        alone = family.record.alone and family.record.form in ("call", "bare")
        if "2d" in family.name or "attention" in family.name or alone:
            for seed, point in enumerate(at_random(family.axes, 5)):
                if "bfloat16" not in str(point["dtype"]):
                    _same(family.build(point, seed))


@pytest.mark.parametrize("relation", RELATIONS)
def test_of_a_program_written_in_another_way(relation: str) -> None:
    for form in ("derived: twice", "function", "padded", "cache"):
        _same(FAMILY.build(complete(FAMILY.axes, {"form": form, "relation": relation}), 1))


@pytest.mark.parametrize("form", ["shape", "scalars"])
def test_no_two_variables_are_called_the_same(form: Literal["shape", "scalars"]) -> None:
    x = Input("x", ("sizes", "m", "size_of_m"), "float32")
    program = Program((x,), (Node("y", "nn.relu", ("x",)),), ("y",), size_parameters=form)
    _same(Case("dynamic", program, ({"sizes": 2, "m": 3, "size_of_m": 4},)))


def test_a_number_is_passed_as_older_releases_take_it() -> None:
    node = Node("y", "one_hot", ("x",), {"on_value": 1, "off_value": 0, "depth": 3})
    case = Case("toy", Program((Input("x", (2,), "int64"),), (node,), ("y",)))
    text = "\n".join(program_lines(case, {"x": "x", "y": "y"}))
    assert 'on_value=getattr(relax, "PrimValue", int)(1)' in text
    assert "depth=3" in text
