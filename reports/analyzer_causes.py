"""What a campaign found wrong in TVM's analyzer, by cause, as Markdown."""

from collections import Counter
from collections.abc import Mapping, Sequence

from generators.algebra_case import ExpressionCase
from generators.expression_cases import ANALYZED, Member
from generators.expressions import nodes
from harness.analyzer_causes import Group
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

_HOW = """\
A finding is one check that fails of expressions that begin with one operator; *met* counts the
cases that failed so. Each wrong answer is one at a point at which the expression is computed by
brute force. The cause is told by the look of the smallest case (`harness/analyzer_causes.py`).
*Compiled*: what the smallest expression comes to in a kernel, or as a size of Relax, with its
ranges as they are and with wider ones; the worst that came again in a fresh process, which may be
for another cause that the expression has as well. –: there is no room for it in a kernel."""


def fate(finding: Finding, compiled: Mapping[str, Compiled]) -> str:
    """What compiled code comes to: its own verdict, or that of what was ``compiled`` of it."""
    assert isinstance(finding.case, Member)
    if finding.case.position != ANALYZED:
        return FATES.get(finding.verdict, _OTHERWISE)
    one = compiled.get(finding.fingerprint)
    if one is None:
        return ""
    verdicts = {outcome.verdict for _, outcome in one.failed.values()}
    worst = next((word for verdict, word in FATES.items() if verdict in verdicts), None)
    return worst or (_OTHERWISE if verdicts else _RIGHT if one.right else _NO_ROOM)


def fates(group: Group, compiled: Mapping[str, Compiled]) -> str:
    """How many findings of ``group`` come to what: ``wrong 2, right 1``."""
    counts = Counter(fate(one, compiled) for one in group.findings)
    words = [*FATES.values(), _OTHERWISE, _RIGHT]
    return ", ".join(f"{word} {counts[word]}" for word in words if counts[word]) or _NO_ROOM


def markdown(
    groups: Sequence[Group], described: Mapping[str, str], compiled: Mapping[str, Compiled]
) -> str:
    """A table of the causes, and one of the findings of each; ``compiled`` by fingerprint."""
    count = sum(len(group.findings) for group in groups)
    where = f"apache-tvm {described.get('apache-tvm', '')}, seed {described.get('seed', '')}"
    lines = [
        "# What a campaign found in TVM's analyzer, by cause",
        "",
        f"{where}: {count} findings, {len(groups)} causes.",
        "",
        _HOW,
        "",
        *_head("cause", "findings", "met", "wrong answers", "smallest", "compiled"),
    ]
    for group in groups:
        wrong = sum(one.verdict is Verdict.WRONG_VALUE for one in group.findings)
        met = sum(one.count for one in group.findings)
        cells = (len(group.findings), met, wrong, _expression(group.findings[0]))
        lines.append(_row(group.title, *map(str, cells), fates(group, compiled)))
    for group in groups:
        lines += ["", f"## {group.title[0].upper()}{group.title[1:]}", ""]
        lines += _head("smallest case", "check", "what comes of it", "met", "compiled", "finding")
        for one in group.findings:
            said = headline(one.outcome.message)[:_MESSAGE] + " (unconfirmed)" * (not one.confirmed)
            tail = (str(one.count), fate(one, compiled), one.fingerprint)
            lines.append(_row(_expression(one), one.operator, said, *tail))
    return "\n".join(lines) + "\n"


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
