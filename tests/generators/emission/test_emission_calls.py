"""Calls that are not one operator on tensors: lists, tuples, casts, index lists, constants."""

import numpy as np
import tvm
from tvm import relax

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue
from relaxcheck.generators.emission.programs import emit
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.execute import execute


def _case(*nodes: Node, outputs: tuple[str, ...]) -> Case:
    inputs = (
        Input("x", ("m", 6), "float32"),
        Input("first", (2,), "int64", constant=True, fill=Literal((0, 1))),
        Input("last", (2,), "int64", constant=True, fill=Literal((2, 5))),
        Input("step", (2,), "int64", constant=True, fill=Literal((1, 2))),
    )
    return Case("any", Program(inputs, nodes, outputs), bindings=({"m": 3, "k": 2},))


CASE = _case(
    Node("left", "split", ("x",), {"indices_or_sections": (2,), "axis": 1, "item": 0}),
    Node("right", "split", ("x",), {"indices_or_sections": (2,), "axis": 1, "item": 1}),
    Node("swapped", "concat", ("right", "left"), {"axis": 1}),
    Node("part", "strided_slice", ("swapped",),
         {"axes": (0, 1), "begin": (0, 5), "end": ShapeValue(("m", 0)), "strides": (2, -2)}),
    Node("both", "stack", ("part", "part"), {"axis": 0}),
    Node("some", "dynamic_strided_slice", ("x", "first", "last", "step"), {}),
    Node("told", "match_cast", ("some",), {"shape": ShapeValue(("k", 2)), "dtype": "float32"}),
    Node("two", "full", (), {"shape": ShapeValue(("k", 2)), "fill_value": 2, "dtype": "float32"}),
    Node("sum", "add", ("told", "two")),
    outputs=("both", "sum"),
)  # fmt: skip


def test_a_call_that_gives_a_tuple_stands_there_once() -> None:
    module = emit(CASE)
    assert relax.analysis.well_formed(module) is not False
    text = str(module)
    assert text.count("R.split(") == 1
    assert text.count("R.match_cast(") == 1


def test_they_run_and_are_right() -> None:
    outcome = execute(CASE)
    assert outcome.verdict is Verdict.PASS, outcome


def test_a_filled_tensor_has_the_dtype_it_is_given() -> None:
    node = Node("y", "full", (), {"shape": (2,), "fill_value": 3, "dtype": "int64"})
    module = emit(Case("any", Program((), (node,), ("y",))))
    executable = relax.build(module, "llvm")
    result = relax.VirtualMachine(executable, tvm.cpu())["main"]().numpy()
    assert result.dtype == np.int64
    assert result.tolist() == [3, 3]


def test_sizes_of_attributes_may_be_symbolic() -> None:
    nodes = (
        Node("square", "eye", (), {"n": ShapeValue(("m",)), "dtype": "float32"}),
        Node("line", "arange", (), {"start": 1, "end": ShapeValue(("2*m + 1",)), "step": 2}),
        Node("hot", "one_hot", ("line",), {"on_value": 1.0, "off_value": 0.0, "depth": 6}),
    )
    case = Case(
        "any", Program((Input("x", ("m",), "float32"),), nodes, ("square", "hot")), ({"m": 3},)
    )
    outcome = execute(case)
    assert outcome.verdict is Verdict.PASS, outcome
