"""Fragments: every form is a valid program, of the shapes and dtypes that the draft says."""

import pytest
from hypothesis import strategies as st

from relaxcheck.generators.core.dims import evaluate
from relaxcheck.generators.core.draft import Draft
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.sampling import example
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.graphs.fragments import FRAGMENTS, PASSES
from relaxcheck.generators.graphs.programs import chosen
from relaxcheck.harness.programs.vetting import reference


@st.composite
def _drafted(
    draw: st.DrawFn, name: str, off: str, dtype: str
) -> tuple[Draft, tuple[dict[str, int], ...]]:
    draft, choices = Draft(dtype), Choices(draw)
    FRAGMENTS[name].build(draft, choices, off)
    return draft, chosen(draft, choices)


@pytest.mark.parametrize("name", FRAGMENTS)
def test_every_form_is_a_valid_program(name: str) -> None:
    for off in ("", *FRAGMENTS[name].near):
        for seed, dtype in enumerate(("float32", "float16")):
            draft, bindings = example(_drafted(name, off, dtype), seed)
            case = Case(family="dynamic", program=draft.program(), bindings=bindings)
            known = reference(case)
            assert not known.refused, (off, known.refused)
            assert not known.unknown
            values = {value.name: value for value in draft.values}
            # A size that the data decide has no value before it is there, and one from then on.
            sizes = [dict(row) for row in bindings]
            for node in case.program.nodes:
                value, computed = values[node.name], known.values[node.name]
                assert computed.dtype == value.dtype
                for row, shape in zip(sizes, computed.shapes, strict=True):
                    for dim, size in zip(value.shape, shape, strict=True):
                        if isinstance(dim, str) and dim.isidentifier():
                            row.setdefault(dim, size)
                        assert evaluate(dim, row) == size


@pytest.mark.parametrize("name", FRAGMENTS)
def test_what_is_off_changes_the_program(name: str) -> None:
    for off in FRAGMENTS[name].near:
        pairs = [
            (example(_drafted(name, each, "float32"), seed)[0] for each in ("", off))
            for seed in range(8)
        ]
        assert any(
            (whole.nodes, whole.dead, whole.inputs) != (near.nodes, near.dead, near.inputs)
            for whole, near in pairs
        ), off


def test_each_pass_has_fragments_that_exist() -> None:
    assert {name for names in PASSES.values() for name in names} <= set(FRAGMENTS)
    assert all(PASSES.values())


def test_dead_nodes_are_no_outputs() -> None:
    draft = example(_drafted("dead", "", "float32"), 0)[0]
    program = draft.program()
    assert draft.dead
    assert not set(draft.dead) & set(program.outputs)
    assert set(draft.dead) <= {node.name for node in program.nodes}
