"""Causes: findings that differ in nothing but sibling operators are shown as one."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace

from relaxcheck.generators.core.case import Valid
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.severity import Severity, rank
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.fingerprint import failed_check, place_key, sibling_key


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause: a finding, or one for each of several sibling operators, the worst first."""

    findings: tuple[Finding, ...]

    @property
    def lead(self) -> Finding:
        """The finding that stands for all."""
        return self.findings[0]

    @property
    def severity(self) -> Severity | None:
        """The severity of the worst finding."""
        return self.lead.severity

    @property
    def count(self) -> int:
        """The cases of all findings."""
        return sum(finding.count for finding in self.findings)

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators, one for each finding."""
        return tuple(finding.operator for finding in self.findings)

    @property
    def confirmed(self) -> bool | None:
        """True if all findings were confirmed, False if one was not; None: not all were tried."""
        tried = [finding.confirmed for finding in self.findings]
        return False if False in tried else None if None in tried else True


def by_cause(findings: Sequence[Finding]) -> list[Cause]:
    """``findings`` by cause, the worst cause first.

    The order is by severity, then regressions, then by how many cases a cause has.
    """
    together: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        key = (_cause(finding), finding.regression, *finding.releases.items())
        together.setdefault(key, []).append(finding)
    causes = [Cause(tuple(sorted(group, key=_order))) for group in together.values()]
    return sorted(causes, key=_cause_order)


def counted_causes(findings: Iterable[Finding], known: Container[str]) -> list[Cause]:
    """The causes that a campaign counts as its findings, the worst first.

    Error messages are not counted, nor are findings with a fingerprint in ``known``. Terminal,
    Markdown and web page count these.
    """
    new = [finding for finding in findings if finding.fingerprint not in known]
    return [cause for cause in by_cause(new) if cause.severity is not Severity.ERROR_MESSAGE]


def _cause(finding: Finding) -> object:
    """The key of the cause of ``finding``: the place of its error in TVM, if its core shows that.

    In a program that its seed decides, the operators around a failing one are chance: which of them
    a reduction leaves says nothing where the place is known. A failed check about one operator is
    one line of TVM's source, whichever pass runs into it.
    """
    signature, kind = finding.signature, of(finding.case)
    if not kind.by_structure(finding.case) or not isinstance(finding.case.expect, Valid):
        return sibling_key(signature, finding.blame, kind.group)

    def group(operator: str) -> str:
        return kind.group_by_look(operator, signature.appearance)

    if place := place_key(signature):
        return place
    if failed_check(signature):
        signature = replace(signature, stage="")
    return sibling_key(signature, finding.blame, group)


def _gravity(finding: Finding) -> tuple[int, bool]:
    return rank(finding.severity), finding.regression is None


def _order(finding: Finding) -> tuple[object, ...]:
    return (*_gravity(finding), -finding.count, finding.operator, finding.fingerprint)


def _cause_order(cause: Cause) -> tuple[object, ...]:
    return (*_gravity(cause.lead), -cause.count, *_order(cause.lead))
