"""The place of a failure in TVM's sources, in words: Markdown with the code in backticks."""

from collections.abc import Sequence

from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.pass_files import file_of
from relaxcheck.harness.outcomes.sources import SourceLine, Sources, sources_of
from relaxcheck.harness.triage.bisection.blaming import DIFFERENTIATION, LOWERING

_MOST = 3
"""A sentence with more lowerings than these points at nothing."""

_ENDS = (
    *(Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED, Verdict.PROCESS_DEATH),
    *(Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY),
)
"""Verdicts of a compilation that ends in its stage."""


def source_text(
    outcome: Outcome, operators: Sequence[str], culprit: str | None, version: str
) -> str:
    """A sentence on the line that raised an error, logged a reason, or defines a lowering.

    Where no line is known, the file of the pass in which it ends; "" if nothing is known.
    ``operators`` are those at fault; ``culprit`` is the pass that is named as at fault, if one is;
    ``version`` is that of apache-tvm with which passes ran.
    """
    sources = sources_of(outcome)
    if sources is not None and sources.lines:
        first, *others = map(_line, sources.lines)
        first += _of(sources.release)
        if outcome.verdict is Verdict.SILENT_BAIL:
            return f"{first} logs the reason."
        below = f"Raised by code that {first} calls" if sources.below else f"Raised in {first}"
        return f"{below}, reached from {' and '.join(others)}." if others else f"{below}."
    if sources is not None and (defined := _definitions(sources, operators, culprit)):
        return defined
    if outcome.stage == culprit:
        return ""
    return _of_stage(outcome, pass_text(outcome.stage, version))


def _definitions(sources: Sources, operators: Sequence[str], culprit: str | None) -> str:
    """A sentence on where TVM defines the lowerings or gradients of ``operators``, unless many."""
    defined = "gradient" if sources.gradients else "lowering"
    places = sources.gradients or sources.lowerings
    lines = [(name, places[name]) for name in operators if name in places]
    blamed = (None, LOWERING, DIFFERENTIATION) if sources.gradients else (None, LOWERING)
    if culprit not in blamed or not 0 < len(lines) <= _MOST:
        return ""
    each = [f"the {defined} of `relax.op.{name}` at {_line(line)}" for name, line in lines]
    return f"TVM defines {' and '.join(each)}{_of(sources.release)}."


def pass_text(name: str | None, version: str) -> str:
    """The file of the pass ``name`` in ``version`` of apache-tvm; "" if it is not known."""
    file = file_of(name, version)
    return f"`{file}`{_of(version)}" if file else ""


def _of_stage(outcome: Outcome, file: str) -> str:
    if file and outcome.verdict is Verdict.SILENT_BAIL:
        return f"The pass that leaves the call, `{outcome.stage}`, is in {file}."
    if file and outcome.verdict in _ENDS:
        return f"It ends in the pass `{outcome.stage}`, which is in {file}."
    return ""


def _line(line: SourceLine) -> str:
    function = f" (`{line.function}`)" if line.function else ""
    return f"`{line.file}:{line.line}`{function}"


def _of(release: str) -> str:
    return f" of apache-tvm {release}" if release else ""
