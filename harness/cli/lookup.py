"""Cases by what a user calls them: a file, a folder, a corpus entry, or an identifier."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from generators.cases import AnyCase, read
from generators.program import CaseError
from harness.cli.terminal import RUNS, campaigns
from harness.corpus import CASE, Record, entries, entry_folder, is_entry, read_record
from harness.differential import described_on, worst
from harness.finding import Finding
from harness.journal import Journal, JournalError, Mode
from harness.known import findings_in
from harness.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Found:
    """A case, and what is known of it where it was found.

    ``outcome`` is the recorded one; ``finding`` that of which it is the smallest case;
    ``environment`` the versions and options of its campaign; ``entry`` the corpus entry's name,
    ``expected`` what is known there.
    """

    case: AnyCase
    outcome: Outcome | None = None
    finding: Finding | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    entry: str | None = None
    expected: Record | None = None


def look_up(wanted: str, directory: Path | None) -> Found:
    """The case that ``wanted`` names; looked for in the campaign ``directory``, or in all.

    Raises:
        CaseError: there is none, or it cannot be read.
        JournalError: ``directory`` holds no campaign.
    """
    path = Path(wanted)
    if path.suffix == ".json" or path.is_file():
        return Found(read(path))
    # An export's folder has the name of what it was made from.
    if path.name != wanted and (path / CASE).is_file():
        return _entry(path)
    folder = entry_folder(wanted)
    if folder is not None:
        return _entry(folder)
    unread: list[str] = []
    for place in [directory] if directory else campaigns():
        try:
            with Journal(place, Mode.READ) as journal, contextlib.suppress(KeyError):
                return _recorded(journal, wanted)
        except JournalError as error:
            if directory:
                raise
            unread.append(str(error))
    if (path / CASE).is_file():
        return _entry(path)
    alike = [one.folder for one in entries() if one.case.identifier.startswith(wanted)]
    if len(alike) == 1:
        return _entry(alike[0])
    raise CaseError(
        f"no case {wanted!r}: it is no file, no corpus entry, and in no campaign under "
        f"{directory or RUNS}/ (give the campaign's folder with --dir)"
        + ("; the ids of several entries of the corpus begin so" if alike else "")
        + "".join(f"; not looked into: {one}" for one in unread)
    )


def _recorded(journal: Journal, wanted: str) -> Found:
    recorded = journal.find(wanted)
    case = recorded.case
    known = [one for one in findings_in(journal) if one.case.identifier == case.identifier]
    finding = known[0] if known else None
    outcome = recorded.outcome
    if outcome is not None and (failure := worst(outcome)) is not None:
        outcome = failure.outcome
    # Of a campaign on several releases it is about the one that it is looked into on.
    release = "" if outcome is None else outcome.release
    return Found(case, outcome, finding, described_on(release, journal.description))


def _entry(folder: Path) -> Found:
    expected = read_record(folder) if is_entry(folder) else None
    return Found(read(folder / CASE), entry=folder.name, expected=expected)
