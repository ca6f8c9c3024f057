"""The running TVM registers the options of contexts, and compiles with them."""

from typing import Any

import pytest
import tvm
from msgspec.structs import replace

from relaxcheck.generators.core.contexts import CONTEXTS, DISABLED, LEFT_OUT, OPT_LEVEL, USUAL
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs import compile as compiling
from relaxcheck.harness.programs.execute import execute

NODES = (Node("a", "exp", ("x",)), Node("b", "reshape", ("a",), {"shape": (6,)}))
PROGRAM = Program((Input("x", (2, 3), "float32"),), NODES, ("b",))
CASE = Case("graphs", PROGRAM, pipeline="default-pipeline")


def test_every_option_of_this_tvm_is_drawn_or_left_out_with_a_reason() -> None:
    registered = {str(name) for name in tvm.ir.transform.PassContext.list_configs()}
    drawn = {name for each in CONTEXTS.values() for name in each} - {OPT_LEVEL, DISABLED}
    assert drawn <= registered
    assert {
        name for name in registered if name.startswith(("relax.", "tirx.", "s_tir."))
    } <= drawn | set(LEFT_OUT)


@pytest.mark.parametrize("name", [name for name in CONTEXTS if name != USUAL])
def test_a_program_means_the_same_in_each(name: str) -> None:
    outcome = execute(replace(CASE, context=dict(CONTEXTS[name])))
    assert outcome.verdict is Verdict.PASS, outcome.message


def test_the_context_is_that_of_the_case(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def step(module: Any, case: Case) -> Any:
        context = tvm.transform.PassContext.current()
        seen.append((int(context.opt_level), dict(context.config)))
        return module

    monkeypatch.setitem(compiling.STEPS, "LegalizeOps", step)
    case = replace(CASE, pipeline="legalize-first")
    execute(replace(case, context={"opt_level": 3}))
    execute(replace(case, context={"tirx.noalias": False}))
    assert seen == [(3, {}), (2, {"tirx.noalias": False})]


def test_they_are_compiled_apart() -> None:
    assert not compiling.can_link_late(replace(CASE, context={"opt_level": 3}))
