"""Programs that call functions of their own: their JSON, what they do, what is refused."""

import json

import pytest

from relaxcheck.generators.core.case import encode
from relaxcheck.generators.core.program import CALL, Case, Input, Node, Program, ShapeValue, decode
from relaxcheck.generators.core.rewrites.static import static

HALVES = Program(
    (Input("a", ("k", "n"), "float32"),),
    (
        Node("flat", "reshape", ("a",), {"shape": ShapeValue(("k*n",))}),
        Node("out", "nn.relu", ("flat",)),
    ),
    ("out",),
)


def _calling(**attributes: object) -> Program:
    every = {"function": "halves", "sizes": ShapeValue(("2*m", 3)), **attributes}
    node = Node("y", CALL, ("x",), every)  # type: ignore[arg-type]
    return Program((Input("x", ("2*m", 3), "float32"),), (node,), ("y",), {"halves": HALVES})


def test_a_call_is_what_the_function_does() -> None:
    plain = static(_calling(), {"m": 5})
    assert plain.functions == {}
    assert plain.nodes == (
        Node("y__flat", "reshape", ("x",), {"shape": (30,)}),
        Node("y", "nn.relu", ("y__flat",)),
    )


def test_symbols_of_functions_are_their_own() -> None:
    assert _calling().symbols == ("m",)


def test_they_round_trip_and_cost_programs_without_them_nothing() -> None:
    case = Case("any", _calling(), bindings=({"m": 1},))
    assert decode(encode(case)) == case
    plain = Case("any", Program((Input("x", (2,), "float32"),), (), ("x",)))
    assert set(json.loads(encode(plain))["program"]) == {"inputs", "nodes", "outputs"}


@pytest.mark.parametrize(
    "attributes",
    [{"function": "other"}, {"sizes": ShapeValue((1,))}, {"sizes": None}, {"function": 3}],
)
def test_a_call_that_does_not_fit_is_refused(attributes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"node y: (no function|the function takes)"):
        _calling(**attributes)


def test_a_function_has_run_time_inputs_and_outputs_of_nodes() -> None:
    constant = Input("c", (2,), "float32", constant=True)
    x = Input("x", (2,), "float32")
    node = Node("y", "nn.relu", ("x",))
    for function in (
        Program((constant,), (Node("y", "nn.relu", ("c",)),), ("y",)),
        Program((x,), (node,), ("x",)),
        Program((x,), (node,), ("y", "x")),
        Program((x,), (node,), ("y",), {"f": Program((x,), (node,), ("y",))}),
        Program((x,), (node,), ("y",), size_parameters="shape"),
    ):
        with pytest.raises(ValueError, match="function 'f'"):
            Program((x,), (node,), ("y",), {"f": function})
