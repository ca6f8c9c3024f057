"""Symbols that a program counts while it runs: no case binds them, and a ``match_cast`` does."""

import json

import pytest

from relaxcheck.generators.core.case import encode
from relaxcheck.generators.core.draft import Draft
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue, decode
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.execute import execute
from relaxcheck.harness.programs.wellformed import check

X = Input("x", ("m", 3), "float32")
PLACES = Node("places", "nonzero", ("x",))
CAST = Node(
    "cast", "match_cast", ("places",), {"shape": ShapeValue((2, "count")), "dtype": "int64"}
)
TURNED = Node("turned", "reshape", ("cast",), {"shape": ShapeValue(("2*count",))})


def _program(*nodes: Node, inputs: tuple[Input, ...] = (X,)) -> Program:
    return Program(inputs, nodes, (nodes[-1].name,), counted=("count",))


def test_no_case_binds_them() -> None:
    program = _program(PLACES, CAST)
    assert program.symbols == ("m",)
    assert Case("any", program, ({"m": 2},)).largest == {"m": 2}
    with pytest.raises(ValueError, match="no other"):
        Case("any", program, ({"m": 2, "count": 1},))


def test_json_names_them_where_there_are_some() -> None:
    case = Case("any", _program(PLACES, CAST), ({"m": 2},))
    assert decode(encode(case)) == case
    assert json.loads(encode(case))["program"]["counted"] == ["count"]
    plain = Case("any", Program((X,), (PLACES,), ("places",)), ({"m": 2},))
    assert "counted" not in json.loads(encode(plain))["program"]


@pytest.mark.parametrize(
    ("nodes", "inputs", "why"),
    [
        ((PLACES, TURNED), (X,), "argument 'cast'"),
        ((PLACES, CAST), (Input("x", ("count", 3), "float32"),), "'count' is counted while"),
        (
            (PLACES, Node("z", "zeros", (), {"shape": ShapeValue(("count",)), "dtype": "int8"})),
            *((X,), "no match_cast gives count a size"),
        ),
        (
            (PLACES, Node("c", "match_cast", ("x",), {"shape": ShapeValue(("2*count", 3))})),
            *((X,), "no match_cast gives count a size"),
        ),
    ],
)
def test_nothing_uses_them_before(
    nodes: tuple[Node, ...], inputs: tuple[Input, ...], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        _program(*nodes, inputs=inputs)


def test_they_remain_in_a_program_at_a_binding() -> None:
    kept = ShapeValue(("m", "count"))
    other = Node("other", "match_cast", ("places",), {"shape": kept, "dtype": "int64"})
    plain = static(_program(PLACES, CAST, TURNED, other), {"m": 2})
    assert plain.inputs[0].shape == (2, 3)
    assert [node.attributes.get("shape") for node in plain.nodes] == [
        None,
        ShapeValue((2, "count")),
        ShapeValue(("2*count",)),
        ShapeValue((2, "count")),
    ]
    assert plain.counted == ("count",)


def test_a_draft_requires_nothing_of_them_and_names_those_in_use() -> None:
    draft = Draft("float32")
    x = draft.start(("m", 3))
    first, second = draft.count(), draft.count()
    assert first != second
    places = draft.call("nonzero", [x], (2, first), "int64")
    assert draft.program().counted == ()
    draft.call("match_cast", [places], (2, first), shape=ShapeValue((2, first)), dtype="int64")
    assert draft.program().counted == (first,)
    assert all("count" not in str(each.dim) for each in draft.required)


@pytest.mark.tvm
def test_kernels_run_over_as_many_elements_as_were_counted() -> None:
    flipped = Node("flipped", "flip", ("cast",), {"axis": 1})
    case = Case("any", _program(PLACES, CAST, flipped), ({"m": 4}, {"m": 0}, {"m": 1}))
    check(case)
    outcome = execute(case)
    assert outcome.verdict is Verdict.PASS, outcome
    wrong = ShapeValue((3, "count"))
    cast = Node("cast", "match_cast", ("places",), {"shape": wrong, "dtype": "int64"})
    with pytest.raises(ValueError, match="is no"):
        execute(Case("any", _program(PLACES, cast), ({"m": 4},)))
