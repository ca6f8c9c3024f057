"""Known findings: what earlier campaigns found, as this one compares with it."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from harness.finding import Finding, fingerprint
from harness.journal import Journal, JournalError, Mode


def known_findings(directories: Iterable[Path]) -> tuple[Finding, ...]:
    """The findings of the campaigns in ``directories``, one for each fingerprint.

    Fingerprints are taken anew: what was recorded by an earlier version may have had another.

    Raises:
        JournalError: one of ``directories`` holds no campaign, or cannot be read.
    """
    found: dict[str, Finding] = {}
    for directory in directories:
        with Journal(directory, Mode.READ) as journal:
            for one in findings_in(journal):
                current = fingerprint(one.kind, one.blame)
                found[current] = msgspec.structs.replace(one, fingerprint=current)
    return tuple(found[key] for key in sorted(found))


def findings_in(journal: Journal) -> Iterator[Finding]:
    """The findings that ``journal`` holds.

    Raises:
        JournalError: the record of one makes no sense.
    """
    for record in journal.findings():
        try:
            yield msgspec.json.decode(record, type=Finding)
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
            said = " ".join(str(error).split())
            raise JournalError(f"{journal.path}: a finding makes no sense ({said})") from error
