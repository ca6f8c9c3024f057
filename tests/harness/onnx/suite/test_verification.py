"""Fixes that break a test, and faults of our own, are reported."""

from relaxcheck.harness.onnx.suite.results import Result
from relaxcheck.harness.onnx.suite.verification import broken, faults
from relaxcheck.harness.outcomes.outcome import Verdict


def results(**verdicts: Verdict) -> dict[str, Result]:
    return {
        name: Result(name, "Add", 14, verdict, "run", "first\nlast")
        for name, verdict in verdicts.items()
    }


def test_what_passes_without_the_fixes_alone_is_broken_by_them() -> None:
    off = results(a=Verdict.PASS, b=Verdict.PASS, c=Verdict.OPAQUE_CRASH, d=Verdict.WRONG_VALUE)
    on = results(a=Verdict.PASS, b=Verdict.UNSUPPORTED, c=Verdict.PASS, d=Verdict.TIMEOUT)
    assert list(broken({"off": off, "on": on})) == [
        "b passes without the fixes; with them: unsupported: first\nlast"
    ]
    assert list(broken({"on": on})) == []
    assert list(broken({"off": off})) == []


def test_a_harness_error_is_a_fault_with_its_last_line() -> None:
    sides = {"on": results(a=Verdict.HARNESS_ERROR, b=Verdict.OPAQUE_CRASH)}
    assert list(faults(sides)) == ["a fault of relaxcheck itself: a, fixes on: last"]
