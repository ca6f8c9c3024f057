"""Programs that return gradients, compiled after the pass Gradient."""

import pytest

from relaxcheck.generators.core.program import GRADIENT, Case, Input, Node, Program
from relaxcheck.harness.known.corpus import entry
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.outcomes.sources import sources_of
from relaxcheck.harness.programs.execute import execute, execute_together

_X = Input("x", (2,), "float32")
_SUM = Node("s", "sum", ("y",))
_MADE = Node("g", GRADIENT, ("s", "x"))


def _case(*nodes: Node, outputs: tuple[str, ...] = ("s", "g")) -> Case:
    return Case("toy", Program((_X,), (*nodes, _SUM, _MADE), outputs), also=("exact",))


SQUARE = Node("y", "multiply", ("x", "x"))
TWICE = (Node("z", "sin", ("x",)), Node("y", "multiply", ("z", "x")))


@pytest.mark.parametrize("outputs", [("s", "g"), ("g",), ("g", "s"), ("s",)])
@pytest.mark.parametrize("nodes", [(SQUARE,), TWICE])
def test_a_gradient_is_right_where_a_tensor_is_used_twice(
    nodes: tuple[Node, ...], outputs: tuple[str, ...]
) -> None:
    outcome = execute(_case(*nodes, outputs=outputs))
    assert outcome.verdict is Verdict.PASS, outcome.message
    assert [check.output for check in outcome.checks] == [*outputs] * 2
    assert "pytorch" in outcome.oracles


def test_several_are_linked_at_once() -> None:
    cases = [_case(SQUARE), _case(*TWICE)]
    outcomes = list(execute_together(cases, lambda number, stage: None))
    assert [outcome.verdict for outcome in outcomes] == [Verdict.PASS] * 2


@pytest.mark.parametrize("operator", ["erf", "nn.gelu"])
def test_an_operator_without_a_gradient_is_named(operator: str) -> None:
    outcome = execute(_case(Node("y", operator, ("x",))))
    assert outcome.verdict.is_failure
    assert outcome.stage == "Gradient"
    assert f"FPrimalGradient has not been registered for relax.{operator}" in outcome.message


def test_the_line_of_a_wrong_gradient_is_known() -> None:
    outcome = execute(entry("gradient-cumsum-exclusive").case)
    assert outcome.verdict is Verdict.WRONG_VALUE
    sources = sources_of(outcome)
    assert sources is not None
    assert not sources.lowerings
    assert sources.gradients["cumsum"].file == "python/tvm/relax/op/_op_gradient.py"
    assert sources.gradients["cumsum"].function == "cumsum_grad"
