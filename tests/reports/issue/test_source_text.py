"""Sentences on TVM's sources, in the issue and about every error in the corpus."""

import re

import msgspec
import pytest

from relaxcheck.generators.core.program import Case
from relaxcheck.harness.known.corpus import Culprit, entries, entry
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.sources import SOURCES, SourceLine, Sources
from relaxcheck.harness.programs.execute import execute
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.harness.triage.bisection.search import Evidence
from relaxcheck.reports.issue.source_text import pass_text, source_text
from relaxcheck.reports.programs.issue import issue_text

VERSION = "0.27.0"
NN = SourceLine("python/tvm/relax/transform/legalize_ops/nn.py", 494, "_nn_prelu")
PRELU = SourceLine("python/tvm/topi/nn/elemwise.py", 137, "prelu")
ALL = SourceLine("src/ir/prim/const_fold.h", 254)
IN_NN = "`python/tvm/relax/transform/legalize_ops/nn.py:494` (`_nn_prelu`)"
IN_PRELU = "`python/tvm/topi/nn/elemwise.py:137` (`prelu`)"
IN_CONVERT = "`src/relax/transform/convert_layout.cc` of apache-tvm 0.27.0"


def failed(verdict: Verdict, stage: str, sources: Sources | None = None) -> Outcome:
    details = {} if sources is None else {SOURCES: msgspec.to_builtins(sources)}
    return Outcome(verdict, stage, "nn.prelu", "AssertionError: ", details=details)


@pytest.mark.parametrize(
    ("lines", "below", "text"),
    [
        ((NN,), False, f"Raised in {IN_NN} of apache-tvm 0.26.0."),
        (
            (PRELU, NN),
            False,
            f"Raised in {IN_PRELU} of apache-tvm 0.26.0, reached from {IN_NN}.",
        ),
        (
            (ALL, PRELU, NN),
            False,
            "Raised in `src/ir/prim/const_fold.h:254` of apache-tvm 0.26.0, reached from "
            f"{IN_PRELU} and {IN_NN}.",
        ),
        ((NN,), True, f"Raised by code that {IN_NN} of apache-tvm 0.26.0 calls."),
    ],
)
def test_an_error_names_its_lines_and_the_release_that_they_hold_for(
    lines: tuple[SourceLine, ...], below: bool, text: str
) -> None:
    sources = Sources("0.26.0", lines, below)
    outcome = failed(Verdict.OPAQUE_CRASH, "LegalizeOps", sources)
    assert source_text(outcome, ["nn.prelu"], "LegalizeOps", VERSION) == text


def test_a_call_that_is_left_names_the_line_that_logs_why() -> None:
    bail = failed(Verdict.SILENT_BAIL, "LegalizeOps", Sources("0.26.0", (NN,)))
    assert source_text(bail, [], None, VERSION) == f"{IN_NN} of apache-tvm 0.26.0 logs the reason."
    unknown = failed(Verdict.SILENT_BAIL, "LegalizeOps")
    assert source_text(unknown, [], None, VERSION) == (
        "The pass that leaves the call, `LegalizeOps`, is in `src/relax/transform/legalize_ops.cc` "
        "of apache-tvm 0.27.0."
    )


@pytest.mark.parametrize("culprit", [None, "LegalizeOps", "ConvertLayout"])
def test_a_wrong_value_names_the_lowering_unless_another_pass_is_at_fault(
    culprit: str | None,
) -> None:
    sources = Sources("0.26.0", lowerings={"nn.prelu": NN, "exp": ALL})
    wrong = failed(Verdict.WRONG_VALUE, "compare", sources)
    text = f"TVM defines the lowering of `relax.op.nn.prelu` at {IN_NN} of apache-tvm 0.26.0."
    assert source_text(wrong, ["nn.prelu"], culprit, VERSION) == (
        "" if culprit == "ConvertLayout" else text
    )
    assert source_text(wrong, ["nn.relu"], culprit, VERSION) == ""


def test_without_a_line_the_file_of_the_pass_is_named_once() -> None:
    crash = failed(Verdict.PROCESS_DEATH, "ConvertLayout")
    text = f"It ends in the pass `ConvertLayout`, which is in {IN_CONVERT}."
    assert source_text(crash, [], None, VERSION) == text
    assert source_text(crash, [], "ConvertLayout", VERSION) == ""
    assert source_text(crash, [], None, "0.24.0") == source_text(crash, [], None, "") == ""
    assert source_text(failed(Verdict.OPAQUE_CRASH, "run"), [], None, VERSION) == ""
    assert pass_text("ConvertLayout", VERSION) == IN_CONVERT
    assert pass_text("emit", VERSION) == pass_text(None, VERSION) == ""


def test_an_issue_has_the_lines_and_the_file_of_the_pass_at_fault() -> None:
    case = entry("prelu-symbolic-channels").case
    assert isinstance(case, Case)
    outcome = failed(Verdict.OPAQUE_CRASH, "LegalizeOps", Sources("0.26.0", (PRELU, NN)))
    culprit = Culprit("ConvertLayout", Evidence.PREFIX, "right without it")
    repro, environment = reproduction(case, outcome), {"apache-tvm": VERSION}
    text = issue_text(repro, "It", "pass\n", environment, culprit=culprit)
    raised = f"Raised in {IN_PRELU} of apache-tvm 0.26.0, reached from {IN_NN}."
    assert text.count(f"```\n\n{raised}\n\n") == 1
    assert f"Pass at fault: `ConvertLayout`, defined in {IN_CONVERT} (right without it)." in text


WITHOUT_A_LINE = {
    "c-compiled-mode": "the C compiler refuses the code that target c generates",
    "c-packed-arguments": "the C compiler refuses the code that target c generates",
    "slice-backwards": "std::bad_alloc in the virtual machine, after all passes",
    "view-with-an-offset": "compiled code raises it: it checks the arguments of a kernel",
}
"""Entries whose error has no line of TVM's, and no pass, with the reason."""

ERRORS = tuple(
    each
    for each in entries()
    if isinstance(each.case, Case)
    and each.expected.outcome is not None
    and each.expected.outcome.verdict
    in (Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED, Verdict.SILENT_BAIL)
)


def test_every_error_in_the_corpus_has_a_line_or_a_pass() -> None:
    """They are run anew: a record may be older than its lines."""
    without = set()
    for each in ERRORS:
        assert isinstance(each.case, Case)
        outcome = execute(each.case)
        if outcome.verdict is Verdict.PASS:
            # It fails on other releases only.
            continue
        text = source_text(outcome, [], None, VERSION)
        if not re.search(r"`(?:python/tvm|src|include|3rdparty)/[\w./-]+(?::\d+)?`", text):
            without.add(each.name)
    assert len(ERRORS) > 60
    assert without == WITHOUT_A_LINE.keys()
