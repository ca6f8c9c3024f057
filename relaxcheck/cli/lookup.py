"""Cases by name: a file, a folder, a corpus entry, an expected failure, or an identifier.

The start of an identifier of a case or of a finding (its fingerprint) is enough.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

from relaxcheck.cli.terminal import RUNS, campaigns
from relaxcheck.generators.core.case import AnyCase, CaseError
from relaxcheck.harness.journal.journal import Journal, JournalError, Mode
from relaxcheck.harness.kinds import read
from relaxcheck.harness.known.corpus import (
    CASE,
    Record,
    entries,
    entry_folder,
    is_entry,
    read_record,
)
from relaxcheck.harness.known.expected_failures import KnownFinding, declared
from relaxcheck.harness.known.known import findings_in
from relaxcheck.harness.outcomes.differential import described_on, worst
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.triage.finding import Finding


@dataclass(frozen=True, slots=True)
class RecordedCase:
    """A case, and what is recorded of it.

    ``outcome`` is the recorded one; ``finding`` the one that has it as its smallest case;
    ``environment`` has the versions and options of its campaign; ``entry`` is the name of its
    corpus entry, ``expected`` the entry's record. ``siblings`` are the operators of other findings
    with the cause of ``finding``, ``symbolic`` those of them that ``Record.symbolic`` is about.
    """

    case: AnyCase
    outcome: Outcome | None = None
    finding: Finding | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    entry: str | None = None
    expected: Record | None = None
    siblings: tuple[str, ...] = ()
    symbolic: tuple[str, ...] = ()


def look_up(wanted: str, directory: Path | None) -> RecordedCase:
    """The case called ``wanted``, in the campaign ``directory`` or in all of them.

    Raises:
        CaseError: there is none, or it cannot be read.
        JournalError: ``directory`` holds no campaign.
    """
    path = Path(wanted)
    if path.suffix == ".json" or path.is_file():
        return RecordedCase(read(path))
    # A bare name means the entry or the case, even if an export's folder here has that name.
    if path.name != wanted and (path / CASE).is_file():
        return _entry(path)
    folder = entry_folder(wanted)
    if folder is not None:
        return _entry(folder)
    searched: list[Path] = []
    unread: list[str] = []
    for place in [directory] if directory else campaigns():
        try:
            with Journal(place, Mode.READ) as journal:
                recorded = _recorded(journal, wanted)
        except JournalError as error:
            if directory:
                raise
            unread.append(str(error))
            continue
        if recorded is not None:
            return recorded
        searched.append(place)
    if (path / CASE).is_file():
        return _entry(path)
    listed = _listed(wanted)
    if len(listed) == 1:
        return next(iter(listed.values()))()
    raise CaseError(
        f"no case {wanted!r}: not a file, not a corpus entry, and not in {_campaigns(searched)} "
        "(give a campaign's folder with --dir)"
        + (f"; several corpus entries have an id that starts so: {_some(listed)}" if listed else "")
        + "".join(f"; not searched: {each}" for each in unread)
    )


def _recorded(journal: Journal, wanted: str) -> RecordedCase | None:
    """The case of ``journal`` whose id, or whose finding's, begins with ``wanted``; None: none.

    A finding comes before cases that were only run on the way to it.

    Raises:
        CaseError: several begin so.
    """
    findings = list(findings_in(journal))
    printed = {
        finding.case.identifier: finding
        for finding in findings
        if wanted and _begins(wanted, finding.fingerprint, finding.case.identifier)
    }
    identifiers = list(printed) or journal.identifiers(wanted)
    if not identifiers:
        return None
    if len(identifiers) > 1:
        raise CaseError(f"{wanted!r} begins several identifiers: {_some(identifiers)}")
    (identifier,) = identifiers
    finding = next((each for each in findings if each.case.identifier == identifier), None)
    try:
        recorded = journal.find(identifier)
        case, outcome = recorded.case, recorded.outcome
    except KeyError:
        assert finding is not None
        case, outcome = finding.case, finding.outcome
    if outcome is not None and (failure := worst(outcome)) is not None:
        outcome = failure.outcome
    # Of a campaign on several releases, the versions of the one that failed.
    release = "" if outcome is None else outcome.release
    return RecordedCase(case, outcome, finding, described_on(release, journal.description))


def _listed(wanted: str) -> dict[str, Callable[[], RecordedCase]]:
    """Corpus entries and expected failures that ``wanted`` names, or begins an identifier of."""
    listed: dict[str, Callable[[], RecordedCase]] = {
        each.case.identifier: partial(_entry, each.folder)
        for each in entries()
        if _begins(wanted, each.case.identifier, each.expected.fingerprint)
    }
    for known in declared():
        alike = isinstance(known, KnownFinding) and is_called(known, wanted)
        if alike or known.name == wanted:
            listed.setdefault(known.case.identifier, partial(RecordedCase, known.case))
    return listed


def is_called(known: KnownFinding, wanted: str) -> bool:
    """True if ``wanted`` begins the fingerprint of ``known`` or the id of its case."""
    return _begins(wanted, known.case.identifier, known.finding.fingerprint)


def _begins(wanted: str, *identifiers: str) -> bool:
    return any(identifier.startswith(wanted) for identifier in identifiers)


def _campaigns(searched: Sequence[Path]) -> str:
    """The campaigns that were ``searched``, to end a sentence with."""
    if not searched:
        return f"a campaign: {RUNS}/ holds none that can be read"
    several = f"any of the {len(searched)} campaigns " if len(searched) > 1 else ""
    return several + _some(map(str, searched))


def _some(names: Iterable[str]) -> str:
    first = list(islice(names, 5))
    return ", ".join(first[:4]) + (", …" if len(first) > 4 else "")


def _entry(folder: Path) -> RecordedCase:
    expected = read_record(folder) if is_entry(folder) else None
    return RecordedCase(read(folder / CASE), entry=folder.name, expected=expected)
