"""The calls that a script of an exception makes."""

from typing import Any

import pytest

from relaxcheck.fixes.sym_api import analyzers as api
from relaxcheck.generators.expressions.cases import ANALYZED
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.reports.expressions.behaviour import title_text
from relaxcheck.reports.expressions.issue import script_text
from tests.reports.expressions.test_issue import VERSIONS, member, run


def test_a_script_of_an_exception_asks_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    case = member(ANALYZED, "x % 3", other="y")
    outcome = Outcome(Verdict.OPAQUE_CRASH, "analysis", ANALYZED, "InternalError: no, never")
    assert 'raises "no, never":' in title_text(case, outcome)
    script = script_text(case, outcome, "A title", VERSIONS)
    assert run(script, monkeypatch) is None
    for method in ("int_set", "can_prove", "can_prove_equal", "modular_set"):

        def fail(*_: Any) -> None:
            raise ValueError("no")

        with monkeypatch.context() as patched:
            patched.setattr(api._SYM.Analyzer, method, fail)
            assert run(script, patched) == "raises ValueError: no"


def test_a_script_calls_the_function_alone_that_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = Outcome(
        Verdict.OPAQUE_CRASH,
        "analysis",
        ANALYZED,
        "ValueError: no",
        details={"question": "raises", "call": "modular_set"},
    )
    script = script_text(member(ANALYZED, "x % 3"), outcome, "A title", VERSIONS)
    assert script.count("    lambda: ") == 1

    def fail(*_: Any) -> None:
        raise ValueError("no")

    # An earlier call may raise something that the issue does not quote.
    monkeypatch.setattr(api._SYM.Analyzer, "int_set", fail)
    assert run(script, monkeypatch) is None
    monkeypatch.setattr(api._SYM.Analyzer, "modular_set", fail)
    assert run(script, monkeypatch) == "raises ValueError: no"
