"""A campaign's findings in TVM's analyzer, by cause, as Markdown."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relaxcheck.generators.expressions.cases import ANALYZED, ExpressionCase
from relaxcheck.generators.expressions.language import nodes
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.harness.expressions.analyzer_causes import UNKNOWN, Group
from relaxcheck.harness.expressions.end_to_end import Compiled
from relaxcheck.harness.outcomes.differential import versions
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.wording import plural

_MESSAGE = 120

RESULTS = {
    Verdict.WRONG_VALUE: "wrong",
    Verdict.PROCESS_DEATH: "dies",
    Verdict.TIMEOUT: "hangs",
    Verdict.OPAQUE_CRASH: "raises",
}
"""Results of compiled code, the worst first."""
_OTHERWISE = "fails"
_RIGHT = "right"
_NO_ROOM = "–"
_NOT_REACHED = "not reached"

_HOW = """\
A finding is one check that fails of expressions that begin with one operator; *met* counts the
cases that failed so. Each wrong answer is one at a point at which the expression is computed by
brute force. The cause is told by the look of the smallest case
(`harness/expressions/analyzer_causes.py`)."""

_HOW_COMPILED = """\
*Compiled*: what the smallest expression comes to in a kernel, or as a size of Relax, with its
ranges as they are and with wider ones; the worst that came again in a fresh process, which may be
for another cause that the expression has as well. What the campaign itself compiled has its verdict
there. –: there is no room for it in a kernel."""

_HOW_INTERRUPTED = f"*{_NOT_REACHED.capitalize()}*: it was interrupted before this was compiled."


@dataclass(frozen=True, slots=True)
class Kernels:
    """Results of compiled findings, by fingerprint, of apache-tvm ``version``; may be empty."""

    version: str
    by_finding: Mapping[str, Compiled]


def result(finding: Finding, compiled: Mapping[str, Compiled]) -> str:
    """The result of compiled code: of the finding itself, or of its ``compiled`` form."""
    assert isinstance(finding.case, ExpressionCase)
    if finding.case.position != ANALYZED:
        return RESULTS.get(finding.verdict, _OTHERWISE)
    compiled_case = compiled.get(finding.fingerprint)
    if compiled_case is None:
        return _NOT_REACHED
    verdicts = {outcome.verdict for _, outcome in compiled_case.failed.values()}
    worst = next((word for verdict, word in RESULTS.items() if verdict in verdicts), None)
    return worst or (_OTHERWISE if verdicts else _RIGHT if compiled_case.right else _NO_ROOM)


def result_counts(group: Group, compiled: Mapping[str, Compiled]) -> str:
    """The number of findings of ``group`` by result: ``wrong 2, right 1``."""
    counts = Counter(result(finding, compiled) for finding in group.findings)
    words = [*RESULTS.values(), _OTHERWISE, _RIGHT, _NOT_REACHED]
    return ", ".join(f"{word} {counts[word]}" for word in words if counts[word]) or _NO_ROOM


def markdown(
    groups: Sequence[Group], described: Mapping[str, str], kernels: Kernels | None = None
) -> str:
    """A table of the causes, and one of the findings of each; ``described``: the campaign.

    Results of compiled code are shown if there are ``kernels``.
    """
    lines = [
        "# Faults of TVM's analyzer in a campaign, by cause",
        "",
        _where(groups, described, kernels),
        "",
        *_legend(groups, kernels),
        "",
        *_causes(groups, kernels),
    ]
    for group in groups:
        lines += ["", f"## {group.title[0].upper()}{group.title[1:]}", ""]
        lines += _members(group, kernels)
    return "\n".join(lines) + "\n"


def _where(groups: Sequence[Group], described: Mapping[str, str], kernels: Kernels | None) -> str:
    count = sum(len(group.findings) for group in groups)
    # A campaign that was interrupted at once has no version.
    version = versions(described) if "apache-tvm" in described else ""
    by = f"apache-tvm {version}, seed {described.get('seed', '')}"
    compiled = f" Compiled by apache-tvm {kernels.version}." if kernels and kernels.version else ""
    causes = sum(group.title != UNKNOWN for group in groups)
    return f"{by}: {plural(count, 'finding')}, {plural(causes, 'known cause')}.{compiled}"


def _legend(groups: Sequence[Group], kernels: Kernels | None) -> list[str]:
    if kernels is None:
        return [_HOW]
    results = (
        result(finding, kernels.by_finding) for group in groups for finding in group.findings
    )
    return [_HOW, _HOW_COMPILED, *[_HOW_INTERRUPTED] * (_NOT_REACHED in results)]


def _causes(groups: Sequence[Group], kernels: Kernels | None) -> list[str]:
    compiled = [] if kernels is None else ["compiled"]
    lines = _head("cause", "findings", "met", "wrong answers", "smallest", *compiled)
    for group in groups:
        wrong = sum(finding.verdict is Verdict.WRONG_VALUE for finding in group.findings)
        occurrences = sum(finding.count for finding in group.findings)
        cells = (len(group.findings), occurrences, wrong, _expression(group.findings[0]))
        last = [] if kernels is None else [result_counts(group, kernels.by_finding)]
        lines.append(_row(group.title, *map(str, cells), *last))
    return lines


def _members(group: Group, kernels: Kernels | None) -> list[str]:
    compiled = [] if kernels is None else ["compiled"]
    lines = _head("smallest case", "check", "result", "hits", *compiled, "finding")
    for finding in group.findings:
        message = headline(finding.outcome.message)[:_MESSAGE] + " (unconfirmed)" * (
            not finding.confirmed
        )
        came = [] if kernels is None else [result(finding, kernels.by_finding)]
        tail = (str(finding.count), *came, finding.fingerprint)
        lines.append(_row(_expression(finding), finding.operator, message, *tail))
    return lines


def _expression(finding: Finding) -> str:
    assert isinstance(finding.case, ExpressionCase)
    subject = finding.case.subject
    # The text of an expression without variables does not show its dtype, which may matter.
    return f"`{subject}`" if subject.variables else f"`{subject.expression}` ({_dtypes(subject)})"


def _dtypes(subject: Problem) -> str:
    return ", ".join(sorted({node.dtype for node in nodes(subject.expression)}))


def _head(*columns: str) -> list[str]:
    return [_row(*columns), "|" + "---|" * len(columns)]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
