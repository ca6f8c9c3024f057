"""What came of a program in plain words, for those who know TVM and nothing of verdicts."""

from harness.outcome import Outcome, Verdict

DOES = {
    Verdict.PASS: "is right",
    Verdict.REJECTED: "is refused, as it should be",
    Verdict.UNSUPPORTED: "raises an error that says what is not supported",
    Verdict.SILENT_BAIL: "leaves a call unlowered",
    Verdict.OPAQUE_CRASH: "raises an error that does not say what is unsupported",
    Verdict.ACCEPTS_INVALID: "is accepted though invalid",
    Verdict.WRONG_SHAPE: "gives an output of the wrong shape",
    Verdict.WRONG_DTYPE: "gives an output of the wrong dtype",
    Verdict.WRONG_VALUE: "gives wrong values",
    Verdict.PROCESS_DEATH: "kills the process",
    Verdict.TIMEOUT: "does not end in time",
    Verdict.OUT_OF_MEMORY: "runs out of memory",
    Verdict.ORACLE_SPLIT: "cannot be judged, for independent implementations differ",
    Verdict.NO_ORACLE: "cannot be judged, for no independent implementation runs it",
    Verdict.HARNESS_ERROR: "could not be run",
}
"""What a program does, by verdict."""

_WHERE = {
    None: "",
    "emit": "when the program is built",
    "codegen": "in code generation",
    "load": "when it is loaded",
    "run": "when it runs",
    "compare": "",
}
"""Where it happens, by stage; the others are names of passes."""

_ELSEWHERE = frozenset(
    {
        *(Verdict.UNSUPPORTED, Verdict.OPAQUE_CRASH),
        *(Verdict.PROCESS_DEATH, Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY),
    }
)
"""What may happen anywhere, so that it is worth saying where."""


def where(stage: str | None) -> str:
    """Where it is that something happens in ``stage``; empty where that says nothing."""
    return _WHERE.get(stage, f"in {stage}")


def does(outcome: Outcome) -> str:
    """What a program does of which ``outcome`` came, and where."""
    said = DOES[outcome.verdict]
    at = where(outcome.stage) if outcome.verdict in _ELSEWHERE else ""
    return f"{said}, {at}" if at else said
