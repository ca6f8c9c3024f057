"""Outcomes in plain words, for readers who know TVM but no verdicts."""

from relaxcheck.harness.outcomes.errors import UNNAMED, WRITTEN, corrupts_heap
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict

DOES = {
    Verdict.PASS: "is right",
    Verdict.BUILT: "is built, and cannot run here",
    Verdict.REJECTED: "is refused, as it should be",
    Verdict.UNSUPPORTED: "raises an error that says what is not supported",
    Verdict.SILENT_BAIL: "leaves a call unlowered",
    Verdict.BROKEN_MODULE: "becomes a module that fails a check",
    Verdict.OPAQUE_CRASH: "raises an error",
    Verdict.ACCEPTS_INVALID: "is accepted though invalid",
    Verdict.WRONG_SHAPE: "gives an output of the wrong shape",
    Verdict.WRONG_DTYPE: "gives an output of the wrong dtype",
    Verdict.WRONG_VALUE: "gives wrong values",
    Verdict.PROCESS_DEATH: "kills the process",
    Verdict.TIMEOUT: "does not end in time",
    Verdict.OUT_OF_MEMORY: "runs out of memory",
    Verdict.ORACLE_SPLIT: "cannot be judged: independent implementations differ",
    Verdict.NO_ORACLE: "cannot be judged: no independent implementation runs it",
    Verdict.HARNESS_ERROR: "could not be run",
}
"""The predicate of a sentence about a program, by verdict."""

_WHERE = {
    None: "",
    "emit": "when the program is constructed",
    "import": "when it is imported",
    "codegen": "in code generation",
    "load": "when it is loaded",
    "run": "when it runs",
    "compare": "",
    "analysis": "in the analyzer",
    "compiled": "when it runs",
}
"""The place of a failure, by stage; all other stages are passes."""

_ELSEWHERE = frozenset(
    {
        *(Verdict.UNSUPPORTED, Verdict.OPAQUE_CRASH),
        *(Verdict.PROCESS_DEATH, Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY),
    }
)
"""Verdicts that may occur in any stage, so that the place is worth naming."""


def where(stage: str | None) -> str:
    """The place named by ``stage``; empty if it says nothing."""
    return _WHERE.get(stage, f"in {stage}")


def on_heap(outcome: Outcome) -> str:
    """The predicate of a sentence about a program that corrupted the heap, with ``outcome``."""
    return "writes out of bounds" if WRITTEN in outcome.details else "corrupts the heap"


def _words(outcome: Outcome) -> str:
    words = DOES[outcome.verdict]
    return f"{words}, but names no operator" if UNNAMED in outcome.details else words


def does(outcome: Outcome) -> str:
    """The predicate of a sentence about a program with ``outcome``, and the place."""
    words = _words(outcome) if not corrupts_heap(outcome.message) else on_heap(outcome)
    at = where(outcome.stage) if outcome.verdict in _ELSEWHERE else ""
    # What is said to be unsupported is not the place.
    apart = "," if outcome.verdict is Verdict.UNSUPPORTED else ""
    return f"{words}{apart} {at}" if at else words
