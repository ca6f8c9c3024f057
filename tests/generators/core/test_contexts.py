"""Options of the context that passes run in: drawn, checked, compiled with, written."""

import msgspec
import pytest

from relaxcheck.generators.core.case import CaseError, encode
from relaxcheck.generators.core.contexts import (
    CONTEXTS,
    LEFT_OUT,
    USUAL,
    arguments,
    arguments_text,
    check_context,
    context_of,
)
from relaxcheck.generators.core.coverage.steering import Steering
from relaxcheck.generators.core.pass_calls import Option
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.passes.family import families
from relaxcheck.harness.kinds import decode
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.reduction.setting_steps import settings
from relaxcheck.harness.programs.reduction.simplicity import measure
from relaxcheck.harness.programs.reduction.steps import Knowledge
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.reports.programs.repro import repro_text

PROGRAM = Program((Input("x", (2,), "float32"),), (Node("y", "nn.relu", ("x",)),), ("y",))
CASE = Case("graphs", PROGRAM)


def within(**context: Option) -> Case:
    return msgspec.structs.replace(CASE, context=context)


def test_they_are_drawn_now_and_then_and_read_back() -> None:
    family = next(each for each in families(("build",)) if each.name == "pass-FuseOps")
    steering = Steering(family.axes)
    drawn = [family.build(steering.point(seed * 7919 + 1), seed) for seed in range(40)]
    set_ = [case for case in drawn if context_of(case)]
    assert 4 < len(set_) < 25
    for case in set_:
        check_context(case)
        assert decode(encode(case)) == case


def test_a_case_without_them_keeps_its_identifier() -> None:
    assert b"context" not in encode(CASE)
    assert CASE.identifier != within(opt_level=0).identifier


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ({}, "leave the field out"),
        ({"relax.FuseOps.depth": 1}, "is unknown; known are opt_level"),
        ({"opt_level": 7}, "opt_level is 7, not one of 0, 1, 3"),
        ({"tirx.noalias": 0}, "is 0, not one of False"),
    ],
)
def test_unknown_options_are_refused(context: dict[str, Option], words: str) -> None:
    with pytest.raises(CaseError, match=words):
        check_context(within(**context))


def test_levels_and_passes_are_arguments_and_others_its_configuration() -> None:
    context = {"opt_level": 3, "disabled_pass": "FuseOps", "tirx.noalias": False}
    wanted = {"opt_level": 3, "disabled_pass": ["FuseOps"], "config": {"tirx.noalias": False}}
    assert arguments(context) == wanted
    assert eval(f"dict({arguments_text(context)})") == wanted
    assert arguments({}) == {}


def test_a_reduction_leaves_them_out() -> None:
    case = within(**{"tirx.disable_vectorize": True})
    assert CASE in settings(case, Knowledge({}))
    assert measure(CASE, {}) < measure(case, {})


@pytest.mark.parametrize("name", [name for name in CONTEXTS if name != USUAL])
def test_scripts_have_them(name: str) -> None:
    case = within(**CONTEXTS[name])
    text = repro_text(
        reproduction(case, Outcome(Verdict.WRONG_VALUE, "compare", None, "")), "A title", {}
    )
    compile(text, "repro.py", "exec")
    assert text.index("context = dict(") < text.index("PassContext(**context)")
    assert text.index("PassContext(**context)") < text.index("relax.build(")


def test_every_other_option_has_a_reason() -> None:
    assert all(LEFT_OUT.values())
    assert not set(LEFT_OUT) & {name for each in CONTEXTS.values() for name in each}
