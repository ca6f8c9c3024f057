"""Signatures and fingerprints: failures of one cause share one, and others do not."""

from dataclasses import replace

import pytest

from relaxcheck.generators.core.case import with_target
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.compiling.legalization_log import reason
from relaxcheck.harness.outcomes.errors import normalise
from relaxcheck.harness.outcomes.outcome import Ending, Outcome, Verdict
from relaxcheck.harness.triage.fingerprint import (
    Signature,
    fingerprint,
    names_cause,
    same_signature,
    sibling_key,
    signature_of,
)
from tests.harness.triage.test_finding import DEFAULT, TOY


def test_a_wrong_value_has_no_message_to_tell_it_apart() -> None:
    case = TOY.build(DEFAULT, 0)
    first = signature_of(
        case, Outcome(Verdict.WRONG_VALUE, "compare", None, "output y: 3 of 4 outside")
    )
    other = signature_of(
        case, Outcome(Verdict.WRONG_VALUE, "compare", None, "output y: 1 of 9 outside")
    )
    assert first == other


def test_a_target_tells_apart_what_no_message_explains() -> None:
    program = Program((Input("x", (4,), "float32"),), (Node("y", "exp", ("x",)),), ("y",))
    case = Case("exp", program)
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", None, "output y: 3 of 4 outside")
    raised = Outcome(Verdict.OPAQUE_CRASH, "FuseOps", None, "InternalError: no such thing at all")

    def of_target(target: str, outcome: Outcome) -> str:
        return fingerprint(signature_of(with_target(case, target), outcome), {"rank": "1"})

    names = ("llvm", "c", "opencl")
    assert len({of_target(name, wrong) for name in names}) == 3
    assert len({of_target(name, raised) for name in names}) == 1
    # So that a reduction may drop the target.
    assert same_signature(case, wrong, signature_of(with_target(case, "c"), wrong))


def test_the_reason_that_tvm_logs_is_the_cause_of_a_silent_bail() -> None:
    """Whatever attribute leads to it, and whatever the call: two reasons are two findings."""
    case = TOY.build(DEFAULT, 0)

    def signature(call: str, *logged: str) -> Signature:
        left, cause = f"left after LegalizeOps: R.{call}", normalise(reason("relax.toy.op", logged))
        bail = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "toy.op", left, cause=cause)
        return signature_of(case, bail)

    layout = signature("toy.op(x)", "TOPI op supports NCHW only")
    same = signature("toy.op(y, layout=3)", "another of other things", "TOPI op supports NCHW only")
    chunk = signature("toy.op(x)", "TOPI op with chunks cannot be legalized")
    unknown = signature("toy.op(x)")
    assert layout == same != chunk
    assert fingerprint(layout, {"layout": "NHWC"}) == fingerprint(same, {"kernel": "IO"})
    assert fingerprint(chunk, {"layout": "NHWC"}) != fingerprint(layout, {"layout": "NHWC"})
    assert fingerprint(unknown, {"layout": "NHWC"}) != fingerprint(unknown, {"kernel": "IO"})
    # A bail recorded without a log may have been for any reason.
    for told_of in (layout, chunk, unknown):
        bail = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "toy.op", "left after LegalizeOps: R.y")
        assert same_signature(case, bail, told_of)
    # It is the same once it has been written down and read again.
    again = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "toy.op", cause=layout.message)
    assert signature_of(case, again) == layout


def test_a_death_has_the_cause_of_its_signal_whatever_was_written_before() -> None:
    case = TOY.build(DEFAULT, 0)

    def signature(message: str, signal: str = "SIGSEGV") -> Signature:
        death = Outcome(Verdict.PROCESS_DEATH, "emit", message=message, ending=Ending(signal))
        return signature_of(case, death)

    assert signature("in _PyEval_EvalFrame") == signature("Warning: BlockBuilder destroyed")
    assert signature("in _PyEval_EvalFrame") != signature("in _PyEval_EvalFrame", "SIGFPE")
    assert signature("exit code 3", "").message == "exit code #"
    assert signature("first assertion", "SIGABRT") != signature("second assertion", "SIGABRT")


@pytest.mark.parametrize(
    "message",
    [
        "malloc(): memory corruption (fast)",
        "malloc_consolidate(): invalid chunk size",
        "free(): invalid next size (fast)",
        "double free or corruption (out)",
        "corrupted size vs. prev_size",
    ],
)
def test_a_corrupted_heap_is_one_cause_whatever_notices_it(message: str) -> None:
    def signature(text: str) -> Signature:
        death = Outcome(Verdict.PROCESS_DEATH, "run", message=text, ending=Ending("SIGABRT"))
        return signature_of(TOY.build(DEFAULT, 0), death)

    noticed = signature(f"worker ended with SIGABRT in run: {message}")
    assert noticed == signature("worker ended with SIGABRT in run: free(): invalid pointer")
    assert noticed != signature("worker ended with SIGABRT in run: an assertion")
    assert not names_cause(noticed)


def test_a_message_is_a_cause_by_itself_and_a_signal_is_none() -> None:
    def signature(verdict: Verdict, message: str) -> Signature:
        return signature_of(TOY.build(DEFAULT, 0), Outcome(verdict, "codegen", "toy.op", message))

    ways = {"groups": "2"}, {"stride.w": "3"}
    for verdict, message, one_cause in (
        (Verdict.OPAQUE_CRASH, "ValueError: none of them", True),
        (Verdict.UNSUPPORTED, "toy.op: not supported", True),
        (Verdict.OPAQUE_CRASH, "", False),
        (Verdict.OPAQUE_CRASH, "RuntimeError: ", False),
        (Verdict.OPAQUE_CRASH, "NotImplementedError", False),
        (Verdict.OPAQUE_CRASH, "InternalError: Check failed: (0 > 1) is false: ", False),
        (Verdict.OPAQUE_CRASH, "InternalError: Check failed: (it != map.end()) is false: ", True),
        (Verdict.OPAQUE_CRASH, "KeyError: 'groups'", True),
        (Verdict.PROCESS_DEATH, "worker ended with SIGSEGV in run", False),
        (Verdict.TIMEOUT, "still in run after 60 s", False),
        (Verdict.ACCEPTS_INVALID, "compiled and ran", False),
        (Verdict.WRONG_VALUE, "1 of 2 outside", False),
    ):
        first, second = (fingerprint(signature(verdict, message), way) for way in ways)
        assert (first == second) is one_cause, verdict


def test_a_file_that_cannot_be_loaded_is_one_cause_whatever_operator_is_in_it() -> None:
    def key(operator: str, stage: str, message: str) -> str:
        outcome = Outcome(Verdict.OPAQUE_CRASH, stage, operator, message)
        signature = replace(signature_of(TOY.build(DEFAULT, 0), outcome), operator=operator)
        return sibling_key(signature, {}, lambda each: each)

    words = "InternalError: Check failed: (ok) is false: Invalid file format"
    assert key("zeros", "load", words) == key("full", "load", words)
    assert key("zeros", "load", words) != key("zeros", "load", f"{words} of a library")
    assert key("zeros", "run", words) != key("full", "run", words)


def test_exceptions_that_have_nothing_but_names_are_distinguished_by_these() -> None:
    case = TOY.build(DEFAULT, 0)
    signatures = [
        signature_of(case, Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps", "toy.op", message))
        for message in (
            "AttributeError: 'Var' object has no attribute 'value'",
            "AttributeError: 'NoneType' object has no attribute 'shape'",
            "KeyError: 'groups'",
            "KeyError: 'window'",
        )
    ]
    assert len({fingerprint(signature, {}) for signature in signatures}) == 4
