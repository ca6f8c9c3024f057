"""What a campaign found wrong in TVM's analyzer, by cause, as Markdown."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generators.algebra_case import ExpressionCase
from generators.expression_cases import ANALYZED, Member
from generators.expressions import nodes
from harness.analyzer_causes import UNKNOWN, Group
from harness.differential import versions
from harness.end_to_end import Compiled
from harness.errors import headline
from harness.finding import Finding
from harness.outcome import Verdict

_MESSAGE = 120

FATES = {
    Verdict.WRONG_VALUE: "wrong",
    Verdict.PROCESS_DEATH: "dies",
    Verdict.TIMEOUT: "hangs",
    Verdict.OPAQUE_CRASH: "raises",
}
"""What compiled code comes to, the worst first."""
_OTHERWISE = "fails"
_RIGHT = "right"
_NO_ROOM = "–"
_NOT_REACHED = "not reached"

_HOW = """\
A finding is one check that fails of expressions that begin with one operator; *met* counts the
cases that failed so. Each wrong answer is one at a point at which the expression is computed by
brute force. The cause is told by the look of the smallest case (`harness/analyzer_causes.py`)."""

_HOW_COMPILED = """\
*Compiled*: what the smallest expression comes to in a kernel, or as a size of Relax, with its
ranges as they are and with wider ones; the worst that came again in a fresh process, which may be
for another cause that the expression has as well. What the campaign itself compiled has its verdict
there. –: there is no room for it in a kernel."""

_HOW_INTERRUPTED = f"*{_NOT_REACHED.capitalize()}*: it was interrupted before this was compiled."


@dataclass(frozen=True, slots=True)
class Kernels:
    """What was compiled, by fingerprint, by apache-tvm ``version``: empty where nothing was."""

    version: str
    by_finding: Mapping[str, Compiled]


def fate(finding: Finding, compiled: Mapping[str, Compiled]) -> str:
    """What compiled code comes to: its own verdict, or that of what was ``compiled`` of it."""
    assert isinstance(finding.case, Member)
    if finding.case.position != ANALYZED:
        return FATES.get(finding.verdict, _OTHERWISE)
    one = compiled.get(finding.fingerprint)
    if one is None:
        return _NOT_REACHED
    verdicts = {outcome.verdict for _, outcome in one.failed.values()}
    worst = next((word for verdict, word in FATES.items() if verdict in verdicts), None)
    return worst or (_OTHERWISE if verdicts else _RIGHT if one.right else _NO_ROOM)


def fates(group: Group, compiled: Mapping[str, Compiled]) -> str:
    """How many findings of ``group`` come to what: ``wrong 2, right 1``."""
    counts = Counter(fate(one, compiled) for one in group.findings)
    words = [*FATES.values(), _OTHERWISE, _RIGHT, _NOT_REACHED]
    return ", ".join(f"{word} {counts[word]}" for word in words if counts[word]) or _NO_ROOM


def markdown(
    groups: Sequence[Group], described: Mapping[str, str], kernels: Kernels | None = None
) -> str:
    """A table of the causes, and one of the findings of each; ``described``: the campaign.

    What compiled code comes to is told where there are ``kernels``.
    """
    lines = [
        "# What a campaign found in TVM's analyzer, by cause",
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
    # A campaign that was interrupted at once tells no version.
    version = versions(described) if "apache-tvm" in described else ""
    by = f"apache-tvm {version}, seed {described.get('seed', '')}"
    compiled = f" Compiled by apache-tvm {kernels.version}." if kernels and kernels.version else ""
    causes = sum(group.title != UNKNOWN for group in groups)
    return f"{by}: {count} findings, {causes} known causes.{compiled}"


def _legend(groups: Sequence[Group], kernels: Kernels | None) -> list[str]:
    if kernels is None:
        return [_HOW]
    found = (fate(one, kernels.by_finding) for group in groups for one in group.findings)
    return [_HOW, _HOW_COMPILED, *[_HOW_INTERRUPTED] * (_NOT_REACHED in found)]


def _causes(groups: Sequence[Group], kernels: Kernels | None) -> list[str]:
    compiled = [] if kernels is None else ["compiled"]
    lines = _head("cause", "findings", "met", "wrong answers", "smallest", *compiled)
    for group in groups:
        wrong = sum(one.verdict is Verdict.WRONG_VALUE for one in group.findings)
        met = sum(one.count for one in group.findings)
        cells = (len(group.findings), met, wrong, _expression(group.findings[0]))
        last = [] if kernels is None else [fates(group, kernels.by_finding)]
        lines.append(_row(group.title, *map(str, cells), *last))
    return lines


def _members(group: Group, kernels: Kernels | None) -> list[str]:
    compiled = [] if kernels is None else ["compiled"]
    lines = _head("smallest case", "check", "what comes of it", "met", *compiled, "finding")
    for one in group.findings:
        said = headline(one.outcome.message)[:_MESSAGE] + " (unconfirmed)" * (not one.confirmed)
        came = [] if kernels is None else [fate(one, kernels.by_finding)]
        tail = (str(one.count), *came, one.fingerprint)
        lines.append(_row(_expression(one), one.operator, said, *tail))
    return lines


def _expression(finding: Finding) -> str:
    assert isinstance(finding.case, Member)
    subject = finding.case.subject
    # What has no variables does not tell its dtype, and it may be for that.
    return f"`{subject}`" if subject.variables else f"`{subject.expression}` ({_dtypes(subject)})"


def _dtypes(subject: ExpressionCase) -> str:
    return ", ".join(sorted({node.dtype for node in nodes(subject.expression)}))


def _head(*columns: str) -> list[str]:
    return [_row(*columns), "|" + "---|" * len(columns)]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
