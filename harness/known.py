"""Known findings: what earlier campaigns found, as this one compares with it."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from harness.finding import Finding, fingerprint
from harness.journal import Journal, Mode


def known_findings(directories: Iterable[Path]) -> tuple[Finding, ...]:
    """The findings of the campaigns in ``directories``, one for each fingerprint.

    Fingerprints are taken anew: what was recorded by an earlier version may have had another.

    Raises:
        JournalError: one of ``directories`` holds no campaign.
    """
    found: dict[str, Finding] = {}
    for directory in directories:
        with Journal(directory, Mode.READ) as journal:
            for record in journal.findings():
                one = msgspec.json.decode(record, type=Finding)
                current = fingerprint(one.kind, one.blame)
                found[current] = msgspec.structs.replace(one, fingerprint=current)
    return tuple(found[key] for key in sorted(found))
