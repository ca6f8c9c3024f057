"""Known causes of failures, with a title and where to read on.

The corpus, the failures that are declared as expected, and the table of a kind of case know causes.
"""

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from relaxcheck.generators.core.case import CaseError, Valid
from relaxcheck.harness.kinds import families, of, operators
from relaxcheck.harness.known.corpus import Entry, readable
from relaxcheck.harness.known.expected_failures import (
    ExpectedFailure,
    Known,
    case_point,
    declared,
)
from relaxcheck.harness.known.tally import utc_today
from relaxcheck.harness.outcomes.severity import Severity
from relaxcheck.harness.paths import CORPUS
from relaxcheck.harness.releases.releases import covers
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.fingerprint import fingerprint, names_cause, reduced_signature
from relaxcheck.harness.wording import noun

CURED = "cured by the fixes"
"""The words for a failure that is gone with every bundled fix on."""


class Source(enum.StrEnum):
    """The list that has a known cause."""

    CORPUS = "corpus entry"
    TABLE = "cause in"
    DECLARED = "declared failure"


@dataclass(frozen=True, slots=True)
class NamedCause:
    """A cause that is known.

    ``title`` says what is wrong with the program of ``entry``, an entry of the corpus by default:
    ``source`` says of which list. ``issue`` is the address of the upstream issue. ``cured``: with
    the fixes on the entry is right on each release in question; ``fixes`` are those made for it.
    ``fits``: the title is true of the finding, which has the same operators and the same blame.
    Where it is not, the two fail by the same error, and the programs differ. ``fault`` says what is
    wrong in TVM's sources, if somebody has read them. ``declared``: the list expects the finding's
    failure on a release in question, with the fixes as it has them, and today.
    """

    title: str
    entry: str
    issue: str | None
    cured: bool
    fits: bool
    source: Source = Source.CORPUS
    fixes: tuple[str, ...] = ()
    fault: str = ""
    declared: bool = False

    @property
    def place(self) -> str:
        """The list and the entry in it."""
        return f"{self.source} {self.entry}"

    @property
    def cure(self) -> str:
        """The fixes that cure it, or are made for it; empty where there are none."""
        if self.cured:
            return CURED
        named = noun(len(self.fixes), "fix", "fixes")
        return f"see the {named} {', '.join(self.fixes)}" if self.fixes else ""

    @property
    def link(self) -> str:
        """Where to read on: the entry, what cures it, and the upstream issue."""
        place = self.place if self.fits else f"same error as {self.place}"
        return ", ".join(filter(None, (place, self.cure, self.issue)))


def named_causes(
    findings: Iterable[Finding],
    versions: Sequence[str],
    entries: Sequence[Entry],
    known: Sequence[Known] = (),
) -> dict[str, NamedCause]:
    """The known causes of ``findings``, by fingerprint; ``versions`` of TVM are in question.

    ``known`` are declared failures. A title of ``entries`` that fits comes first, then that of the
    table of its kind of case, then a declaration.
    """
    by_fingerprint: dict[str, list[Entry]] = {}
    for entry in entries:
        record = entry.expected
        every = (*record.alike.values(), record.fingerprint, *_as_core(entry))
        for each in dict.fromkeys(every):
            by_fingerprint.setdefault(each, []).append(entry)
    named = {}
    for finding in findings:
        entry_alike = _of_corpus(finding, by_fingerprint.get(finding.fingerprint, ()), versions)
        if entry_alike is not None and entry_alike.fits:
            cause: NamedCause | None = entry_alike
        else:
            listed = _of_table(finding) or _of_declared(finding, known, versions)
            cause = listed or entry_alike
        if cause is not None:
            named[finding.fingerprint] = cause
    return named


def _of_corpus(
    finding: Finding, alike: Sequence[Entry], versions: Sequence[str]
) -> NamedCause | None:
    candidates = [entry for entry in alike if _concerns(entry, finding)]
    if not candidates:
        return None
    nearest = _nearest(candidates, finding)
    fits = _fits(nearest, finding)
    return _named(nearest, finding, versions, fits=fits) if fits or _tells(finding) else None


def _of_table(finding: Finding) -> NamedCause | None:
    likely = of(finding.case).likely_cause(finding.case, finding.outcome)
    if likely is None:
        return None
    return NamedCause(
        likely.title, likely.page, None, False, True, Source.TABLE, likely.fixes, likely.fault
    )


def _of_declared(
    finding: Finding, known: Sequence[Known], versions: Sequence[str]
) -> NamedCause | None:
    """The first declaration that expects ``finding``, of those that say why if there are any."""
    for entry in sorted(known, key=lambda entry: not entry.reason):
        if any(_expects(entry, finding, version) for version in versions):
            # A title holds the fault alone: what follows explains it.
            reason = entry.reason.partition(". ")[0].partition(": ")[0]
            return NamedCause(
                f"{entry.operator}: {reason.rstrip('.')}",
                entry.name,
                entry.issue,
                cured=False,
                fits=bool(reason),
                source=Source.DECLARED,
                declared=not entry.expired(utc_today()),
            )
    return None


def _expects(entry: Known, finding: Finding, version: str) -> bool:
    if not entry.concerns(version, fixes=finding.case.fixes):
        return False
    if isinstance(entry, ExpectedFailure):
        family = next((each for each in families() if each.name == finding.case.family), None)
        place = case_point(finding.case, family)
        applies = entry.applies(place, {"apache-tvm": version})
        return applies and entry.expects(finding.outcome)
    return entry.finding.fingerprint == finding.fingerprint


def bundled_causes(
    findings: Iterable[Finding], versions: Sequence[str], corpus: Path = CORPUS
) -> tuple[dict[str, NamedCause], tuple[str, ...]]:
    """As ``named_causes``, by all that is known, with the entries of ``corpus``.

    Besides, a line for each entry that cannot be read, and for the declarations if they cannot.
    """
    entries, unread = readable(corpus)
    try:
        known = declared()
    except CaseError as error:
        known, unread = (), (*unread, str(error))
    return named_causes(findings, versions, entries, known), unread


def _as_core(entry: Entry) -> Iterator[str]:
    """The fingerprints of findings whose core the case of ``entry`` is, but for features of it.

    An entry may keep symbols and settings that a reduction takes away.
    """
    outcome = entry.expected.outcome
    if outcome is not None and outcome.verdict.is_failure and _is_core(entry):
        signature = reduced_signature(entry.case, outcome)
        yield from (fingerprint(signature, blame) for blame in (_blame(entry), {}))


def _is_core(entry: Entry) -> bool:
    return of(entry.case).by_structure(entry.case) and isinstance(entry.case.expect, Valid)


def _blame(entry: Entry) -> dict[str, str]:
    """The blame of ``entry``: that of its campaign, or the features of a core."""
    outcome = entry.expected.outcome
    if outcome is None or not _is_core(entry):
        return entry.expected.blame
    return of(entry.case).features(entry.case, outcome)


def _concerns(entry: Entry, finding: Finding) -> bool:
    """True if the title of ``entry`` may be that of ``finding``.

    The fingerprint of an invalid program that nothing checks names an operator and a fault; the
    title of another program of such an operator need not fit.
    """
    there, here = set(operators(entry.case)), set(operators(finding.case))
    return bool(there & here) if isinstance(finding.case.expect, Valid) else there == here


def _tells(finding: Finding) -> bool:
    """True if the fingerprint of ``finding`` says more than which operators give wrong values.

    Two causes of wrong values in one operator have nothing in common that a reader can compare.
    """
    wrong = finding.severity is Severity.WRONG_RESULT and isinstance(finding.case.expect, Valid)
    return not wrong or bool(finding.cause) or names_cause(finding.signature)


def _fits(entry: Entry, finding: Finding) -> bool:
    """True if the two differ in nothing that the title of ``entry`` may be about."""
    if entry.case.identifier == finding.case.identifier:
        return True
    if set(operators(entry.case)) != set(operators(finding.case)):
        return False
    record = entry.expected
    # Of an entry that no campaign found, the attribution alone says that settings are to blame.
    attributed = record.attribution is not None and bool(record.attribution.blamed)
    blame = _blame(entry)
    return _alike(entry, blame, finding) and (bool(blame) or not attributed)


def _alike(entry: Entry, blame: Mapping[str, str], finding: Finding) -> bool:
    """True if ``finding`` blames the axes of ``blame``, and their values but for unnamed ones.

    Several values lead to one message. Where the message names the cause, a title that names no
    value holds for each of them.
    """
    if blame == finding.blame:
        return True
    same_axes = set(blame) == set(finding.blame)
    apart = [value for axis, value in blame.items() if finding.blame.get(axis) != value]
    unnamed = all(value.lower() not in entry.expected.title.lower() for value in apart)
    return same_axes and unnamed and names_cause(finding.signature)


def _nearest(entries: Sequence[Entry], finding: Finding) -> Entry:
    """The entry of the same case, else that which blames most of the same and least besides."""

    def distance(entry: Entry) -> tuple[bool, bool, int, bool, str]:
        apart = set(_blame(entry).items()) ^ set(finding.blame.items())
        same = entry.case.identifier == finding.case.identifier
        other = set(operators(entry.case)) != set(operators(finding.case))
        return not same, other, len(apart), entry.expected.issue is None, entry.name

    return min(entries, key=distance)


def _named(entry: Entry, finding: Finding, versions: Sequence[str], *, fits: bool) -> NamedCause:
    record = entry.expected
    on = [
        by_fixes.get("on")
        for version in versions
        for release, by_fixes in record.verdicts.items()
        if covers(release, version)
    ]
    cured = bool(on) and all(verdict is not None and verdict.is_right for verdict in on)
    here = [record.verdict(version, fixes=finding.case.fixes) for version in versions]
    fails = any(verdict is not None and verdict.is_failure for verdict in here)
    return NamedCause(
        record.title,
        entry.name,
        record.issue,
        cured,
        fits,
        fault=record.fault if fits else "",
        declared=fits and fails,
    )
