"""Causes: findings with one cause, as of sibling operators, are shown as one."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from relaxcheck.generators.core.case import Valid
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.severity import Severity, rank
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.fingerprint import WRONG, failed_check, place_key, sibling_key


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause: a finding, or several, as of sibling operators, the worst first."""

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
        """The operators of the findings, each once."""
        return tuple(dict.fromkeys(finding.operator for finding in self.findings))

    @property
    def confirmed(self) -> bool | None:
        """True if all findings were confirmed, False if one was not; None: not all were tried."""
        tried = [finding.confirmed for finding in self.findings]
        return False if False in tried else None if None in tried else True


@dataclass(frozen=True, slots=True)
class _Group:
    """Findings of one cause, and the keys that say so."""

    keys: set[tuple[object, ...]]
    findings: list[Finding]

    @classmethod
    def of(cls, *groups: "_Group") -> "_Group":
        """All ``groups`` as one."""
        findings = [finding for group in groups for finding in group.findings]
        return cls(set().union(*(group.keys for group in groups)), findings)

    def has_cause_of(self, other: "_Group") -> bool:
        """True if a key is in both, or values are wrong in both for what one of them blames."""
        return bool(self.keys & other.keys) or any(
            _explains(one, another)
            for pair in product(self.findings, other.findings)
            for one, another in (pair, pair[::-1])
        )


def by_cause(findings: Sequence[Finding]) -> list[Cause]:
    """``findings`` by cause, the worst cause first.

    The order is by severity, then regressions, then by how many cases a cause has.
    """
    groups: list[_Group] = []
    for finding in findings:
        whole = {(key, finding.regression, *finding.releases.items()) for key in _keys(finding)}
        group = _Group(whole, [finding])
        alike = [other for other in groups if other.has_cause_of(group)]
        groups = [other for other in groups if other not in alike]
        groups.append(_Group.of(*alike, group))
    causes = [Cause(tuple(sorted(group.findings, key=_order))) for group in groups]
    return sorted(causes, key=_cause_order)


def counted_causes(findings: Iterable[Finding], known: Container[str]) -> list[Cause]:
    """The causes that a campaign counts as its findings, the worst first.

    Error messages are not counted, nor are findings with a fingerprint in ``known``. Terminal,
    Markdown and web page count these.
    """
    new = [finding for finding in findings if finding.fingerprint not in known]
    return [cause for cause in by_cause(new) if cause.severity is not Severity.ERROR_MESSAGE]


def _keys(finding: Finding) -> Iterator[object]:
    """The keys of the cause of ``finding``: findings with any in common have one cause.

    The place of its error in TVM is one, for one reason: which operators lead there is chance in a
    program that its seed decides, and does not matter elsewhere. Of memory that nothing wrote over
    a size of 0 it is the way to compute the operators.
    """
    signature, kind = finding.signature, of(finding.case)
    drawn = kind.by_structure(finding.case)
    if not isinstance(finding.case.expect, Valid):
        yield sibling_key(signature, finding.blame, kind.group)
        return

    def group(operator: str) -> str:
        return kind.group_by_look(operator, signature.appearance)

    place = place_key(signature)
    if place is not None:
        yield place
    if _over_nothing(finding):
        groups = tuple(map(group, signature.operator.split(" + ")))
        yield signature.verdict, signature.fixes, signature.appearance, groups
    elif not drawn:
        yield sibling_key(signature, finding.blame, kind.group)
    elif place is None:
        # A failed check about one operator is one line of TVM's source, whichever pass runs it.
        stage = "" if failed_check(signature) else signature.stage
        yield sibling_key(replace(signature, stage=stage), finding.blame, group)


def _over_nothing(finding: Finding) -> bool:
    """True of values that look like nothing computed them, where they are wrong at a size of 0."""
    wrong = [check for check in finding.outcome.checks if check.ratio is None or check.ratio > 1]
    return bool(finding.signature.appearance and wrong) and all(
        0 in check.binding.values() for check in wrong
    )


def _explains(finding: Finding, other: Finding) -> bool:
    """True if a result of ``other`` is wrong for the blame of ``finding``, and more besides.

    They look alike, or those of one come from memory out of bounds, which look like anything.
    """
    signature, other_signature = finding.signature, other.signature
    kind = of(finding.case)
    looks = {signature.appearance, other_signature.appearance}
    return (
        bool(finding.cause)
        and finding.cause.items() < other.cause.items()
        and isinstance(finding.case.expect, Valid)
        and replace(signature, appearance="") == replace(other_signature, appearance="")
        and signature.verdict in WRONG
        and (len(looks) == 1 or kind.any_look in looks - {""})
        and finding.regression == other.regression
        and finding.releases == other.releases
    )


def _gravity(finding: Finding) -> tuple[int, bool]:
    return rank(finding.severity), finding.regression is None


def _order(finding: Finding) -> tuple[object, ...]:
    return (*_gravity(finding), -finding.count, finding.operator, finding.fingerprint)


def _cause_order(cause: Cause) -> tuple[object, ...]:
    return (*_gravity(cause.lead), -cause.count, *_order(cause.lead))
