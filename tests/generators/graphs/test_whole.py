"""Whole graphs: valid programs of the size that is asked for, with the fragment in them."""

import pytest

from relaxcheck.generators.core.axes import complete, point_of
from relaxcheck.generators.core.case import Valid
from relaxcheck.generators.core.dims import evaluate
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.graphs.fragments import FRAGMENTS
from relaxcheck.generators.graphs.whole.family import NODES, PIPELINES, drafted, family
from relaxcheck.generators.graphs.whole.growing import NO_FRAGMENT
from relaxcheck.harness.programs.vetting import reference

FAMILY = family(PIPELINES)

DETERMINISTIC = {"parallel matmul": "matmul", "attention": "permute_dims", "conv norm": "nn.conv2d"}
"""Fragments, and an operator that each has however it is drawn."""


@pytest.mark.parametrize("nodes", NODES)
def test_graphs_have_as_many_nodes_as_asked(nodes: int) -> None:
    for seed in range(3):
        case = FAMILY.build(complete(FAMILY.axes, {"nodes": nodes}), seed)
        assert nodes <= len(case.program.nodes) <= nodes + 24
        known = reference(case)
        assert not known.refused or not isinstance(case.expect, Valid), known.refused


@pytest.mark.parametrize("fragment", FRAGMENTS)
@pytest.mark.parametrize("form", ["whole", "near"])
def test_a_fragment_is_in_the_graph(fragment: str, form: str) -> None:
    for seed, nodes in enumerate((1, 16)):
        point = complete(FAMILY.axes, {"nodes": nodes, "fragment": fragment, "form": form})
        case = FAMILY.build(point, seed)
        assert point_of(FAMILY, case) == point
        assert not reference(case).refused
        operators = {node.operator for node in case.program.nodes}
        assert DETERMINISTIC.get(fragment, next(iter(operators))) in operators


def test_the_draft_knows_each_value() -> None:
    point = complete(FAMILY.axes, {"nodes": 24, "fragment": "qkv"})
    draft, case = drafted(point, 5), FAMILY.build(point, 5)
    values = {value.name: value for value in draft.values}
    known = reference(case)
    for node in case.program.nodes:
        shapes = known.values[node.name].shapes
        for row, shape in zip(case.bindings, shapes, strict=True):
            wanted = values[node.name].shape
            if all(not isinstance(dim, str) or "count" not in dim for dim in wanted):
                assert tuple(evaluate(dim, row) for dim in wanted) == shape


def test_another_pipeline_leaves_the_program_the_same() -> None:
    def built(pipeline: str) -> Case:
        point = {"nodes": 8, "fragment": "late", "pipeline": pipeline}
        return FAMILY.build(complete(FAMILY.axes, point), 7)

    assert built("fixes-build").program == built("fixes-pipeline").program


def test_no_form_without_a_fragment() -> None:
    (form,) = [axis for axis in FAMILY.axes if axis.name == "form"]
    assert form.choices({"fragment": NO_FRAGMENT}) == ("whole",)
    assert form.choices({"fragment": "late"}) == ("whole", "near")
