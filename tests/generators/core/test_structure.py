"""Conditionals, tuples, functions of several outputs, blocks: as data, computed, compiled."""

from typing import Any

import numpy as np
import pytest
import tvm
from msgspec.structs import replace
from tvm import relax, tirx
from tvm.script import relax as R

from relaxcheck.generators.core.case import encode
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue, decode
from relaxcheck.generators.core.rewrites.inlining import inlined, taken
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.generators.core.structure import tuple_values
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.emission.programs import emit
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs import wellformed
from relaxcheck.harness.programs.execute import execute
from relaxcheck.harness.programs.reduction.sequence import known
from relaxcheck.harness.programs.reduction.simplicity import measure
from relaxcheck.harness.programs.reduction.structure_steps import structure
from relaxcheck.harness.programs.vetting import reference
from relaxcheck.oracles.pytorch import evaluate as pytorch
from relaxcheck.reports.programs.program_text import program_lines
from relaxcheck.reports.programs.rendering import program_text
from relaxcheck.reports.programs.tvmscript import tvmscript


def _function(first: str, second: str) -> Program:
    nodes = (Node("e", first, ("y",)), Node("s", second, ("e", "y")))
    return Program((Input("y", ("k", 4), "float32"),), nodes, ("s", "e"))


_CALL = {"function": "f", "sizes": ShapeValue(("m",))}
_IF = {**_CALL, "otherwise": "g"}

PROGRAM = Program(
    (Input("flag", (), "bool"), Input("x", ("m", 4), "float32")),
    (
        Node("a", "tanh", ("x",)),
        Node("t", "tuple", ("a", "x")),
        Node("u", "tuple", ("t", "a")),
        Node("v", "tuple_item", ("u",), {"at": 0}),
        Node("w", "tuple_item", ("v",), {"at": 1}),
        Node("h0", "call", ("w",), {**_CALL, "item": 0}),
        Node("h1", "call", ("w",), {**_CALL, "item": 1}),
        Node("i0", "if", ("flag", "h0"), {**_IF, "item": 0}),
        Node("i1", "if", ("flag", "h0"), {**_IF, "item": 1}),
        Node("z", "add", ("i0", "i1")),
        Node("q", "subtract", ("z", "h1")),
    ),
    ("q", "z"),
    {"f": _function("exp", "add"), "g": _function("negative", "multiply")},
    apart=("z",),
)
CASE = Case("graphs", PROGRAM, ({"m": 3}, {"m": 1}, {"m": 0}))


def test_they_round_trip_and_are_well_formed() -> None:
    assert decode(encode(CASE)) == CASE
    wellformed.check(CASE)


def test_the_oracles_compute_the_branch_that_is_taken() -> None:
    plain = static(PROGRAM, {"m": 3})
    assert not plain.functions
    assert {"where"} == {node.operator for node in plain.nodes if node.name in ("i0", "i1")}
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    e = np.exp(x)
    for flag in (True, False):
        h = e + x
        i = (np.exp(h) + h, np.exp(h)) if flag else (-h * h, -h)
        wanted = i[0] + i[1]
        results = pytorch.evaluate(plain, {"flag": np.array(flag), "x": x})
        np.testing.assert_allclose(results[1], wanted, rtol=1e-5)
        np.testing.assert_allclose(results[0], wanted - e, rtol=1e-5, atol=1e-5)
    assert not reference(CASE).refused


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_tvm_computes_the_same(seed: int) -> None:
    case = replace(CASE, seed=seed)
    flags = {bool(arrays(replace(CASE, seed=at), 0)["flag"]) for at in range(3)}
    assert flags == {True, False}
    outcome = execute(case)
    assert outcome.verdict is Verdict.PASS, outcome.message


def test_a_script_builds_the_same_module() -> None:
    names = {each.name: each.name for each in (*PROGRAM.inputs, *PROGRAM.nodes)}
    scope: dict[str, Any] = {"relax": relax, "R": R, "tirx": tirx, "tvm": tvm}
    exec("\n".join(program_lines(CASE, names)), scope)
    ours, theirs = emit(CASE), scope["program"]()
    tvm.ir.assert_structural_equal(theirs["main"], ours["main"], map_free_vars=True)


def test_text_has_the_functions_and_blocks() -> None:
    text = program_text(PROGRAM)
    assert "f:\n  y: float32[k, 4]\n  e = exp(y)" in text
    assert "# outside of dataflow blocks: z" in text
    script = tvmscript(PROGRAM)
    assert "if flag:" in script
    assert "u = (t, a)" in script
    assert "w = v[1]" in script


def test_each_step_of_a_reduction_is_simpler_and_valid() -> None:
    outcome = execute(CASE)
    about = known(outcome, {})
    made = list(structure(CASE, about))
    assert {"if", "call", "tuple"} - {n.operator for n in made[0].program.nodes} == {
        *("if", "call", "tuple")
    }
    assert not made[0].program.functions
    for case in made:
        wellformed.check(case)
        assert measure(case, {}) < measure(CASE, {})
        assert not reference(case).refused
    assert any("g" not in case.program.functions for case in made[1:])


def test_a_call_is_replaced_by_the_body() -> None:
    node = PROGRAM.nodes[7]
    assert taken(node, "otherwise").attributes["function"] == "g"
    program = inlined(PROGRAM, "h0")
    assert [node.name for node in program.nodes[5:7]] == ["h1", "h0"]
    case = replace(CASE, program=program)
    before, after = (static(each.program, {"m": 3}) for each in (CASE, case))
    fed = arrays(CASE, 0)
    for ours, theirs in zip(
        pytorch.evaluate(before, fed), pytorch.evaluate(after, fed), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_elements_know_their_tuples() -> None:
    assert tuple_values(PROGRAM.nodes) == {"t": ("a", "x"), "u": ("t", "a"), "v": ("a", "x")}


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (Node("n", "exp", ("t",)), "t is a tuple"),
        (Node("n", "tuple_item", ("t",), {"at": 2}), "no element 2"),
        (Node("n", "tuple_item", ("a",), {"at": 0}), "no element 0"),
        (Node("n", "call", ("a",), _CALL), "2 outputs, and no None"),
        (Node("n", "call", ("a",), {**_CALL, "item": 2}), "2 outputs, and no 2"),
        (Node("n", "if", ("a",), {**_IF, "item": 0}), "the function takes"),
        (Node("n", "if", ("flag", "a"), {**_CALL, "item": 0}), "the branches differ"),
    ],
)
def test_what_does_not_fit_is_refused(node: Node, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(PROGRAM, nodes=(*PROGRAM.nodes, node))


def test_no_output_is_a_tuple_and_nothing_unknown_stands_apart() -> None:
    with pytest.raises(ValueError, match="or a tuple"):
        replace(PROGRAM, outputs=("t",))
    with pytest.raises(ValueError, match="no node 'other'"):
        replace(PROGRAM, apart=("other",))


def test_arguments_have_the_types_of_the_inputs_and_branches_give_the_same() -> None:
    function = PROGRAM.functions["f"]
    for other in ({"dtype": "float64"}, {"shape": ("k", 5)}, {"shape": ("k", 1)}):
        changed = replace(function, inputs=(replace(function.inputs[0], **other),))
        program = replace(PROGRAM, functions={"f": changed, "g": replace(changed)})
        assert "and the call says" in reference(replace(CASE, program=program)).refused
    sums = (*function.nodes[:1], Node("s", "sum", ("e",), {"axis": (1,), "keepdims": True}))
    program = replace(PROGRAM, functions={"f": replace(function, nodes=sums), "g": function})
    nodes = [node for node in program.nodes if node.name not in ("i0", "z", "q")]
    items = (*nodes[:-1], replace(nodes[-1], arguments=("flag", "x")))
    program = replace(program, nodes=items, outputs=("i1", "h1"), apart=())
    assert "branches" in reference(replace(CASE, program=program)).refused
