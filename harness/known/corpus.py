"""The corpus: reduced cases in ``corpus/FAMILY/NAME/``, with everything known about each.

A folder has three files. ``case.json`` and ``finding.json`` are the data; ``repro.py`` is rendered
from them (``reports.issue.finding_folder``), and never written by hand. An exported finding has the
same layout and ``issue.md`` besides, rendered as well; where a fix cures it, also its patch for TVM
and a test.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from relaxcheck.generators.core.case import AnyCase, CaseError
from relaxcheck.harness.kinds import decode_record, read
from relaxcheck.harness.known.links import check_link
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.severity import Severity
from relaxcheck.harness.paths import CORPUS
from relaxcheck.harness.releases.releases import covers
from relaxcheck.harness.triage.bisection.search import Evidence
from relaxcheck.harness.triage.curing import Cure

CASE, FINDING, SCRIPT, ISSUE = "case.json", "finding.json", "repro.py", "issue.md"
FILES = (CASE, FINDING, SCRIPT)
"""The files of an entry."""
EXPORTED = (*FILES, ISSUE)
"""The files of an exported finding."""
PATCH, TEST = "fix.patch", "test_fix.py"
CURED = (PATCH, TEST)
"""The files beside it where the patch of a fix cures it."""

EXPORTS = "corpus"
"""The folder of exported findings within a campaign's folder."""

UNFINISHED = ".new"
"""The suffix of a folder's name until it is complete: it is no entry yet."""


class Culprit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The pass that breaks a case (``harness.triage.bisection``); ``name``: None if unknown."""

    name: str | None
    evidence: Evidence
    why: str


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All that is known of a case, as ``finding.json`` holds it.

    * ``title`` says what is wrong; ``issue`` is the address of the upstream issue. ``fault`` is a
      sentence by somebody who has read TVM's sources: what in them is wrong.
    * ``verdicts`` are declared and tested: by release (a prefix of the version), then by the fixes,
      ``off`` and ``on``. ``reason`` is why it fails with the fixes on, on ``unmended`` releases.
    * ``outcome`` was measured without the fixes, with the versions in ``environment`` and a
      deadline of ``seconds``; ``severity`` is that of the outcome. None: nothing was measured.
    * ``fingerprint``, ``blame`` (axis to value) and ``count`` are the campaign's.
    * ``attribution`` lists what was put back to its default; ``culprit`` is the pass at fault.
    * ``alike`` is the fingerprint of the failure without the fixes on each release that has one.
    * ``undefined`` are the releases on which the result depends on memory that nothing wrote.
    * ``cure`` names the fixes that cure it, if that was looked for.
    * ``siblings`` are other operators that fail for the same cause, as a campaign found;
      ``symbolic`` are those of them that were seen to fail with symbolic dimensions alone.
    """

    title: str
    issue: str | None
    verdicts: dict[str, dict[str, Verdict]]
    fault: str = ""
    severity: Severity | None = None
    reason: str = ""
    fingerprint: str = ""
    blame: dict[str, str] = {}
    count: int = 0
    outcome: Outcome | None = None
    environment: dict[str, str] = {}
    seconds: float = 60.0
    culprit: Culprit | None = None
    attribution: Attribution | None = None
    alike: dict[str, str] = {}
    undefined: tuple[str, ...] = ()
    cure: Cure | None = None
    siblings: tuple[str, ...] = ()
    symbolic: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_link(self.issue)

    def verdict(self, release: str, *, fixes: bool) -> Verdict | None:
        """The declared verdict on ``release``, or None."""
        for prefix, by_fixes in self.verdicts.items():
            if covers(prefix, release):
                return by_fixes.get("on" if fixes else "off")
        return None

    @property
    def unmended(self) -> tuple[str, ...]:
        """The releases on which a failure is declared with the fixes on."""
        return tuple(
            release
            for release, by_fixes in self.verdicts.items()
            if "on" in by_fixes and by_fixes["on"].is_failure
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """One folder of the corpus; its name is the entry's."""

    name: str
    case: AnyCase
    expected: Record
    folder: Path


def entries(directory: Path = CORPUS) -> tuple[Entry, ...]:
    """All entries of the corpus in ``directory``, by name.

    Raises:
        CaseError: an entry's file is missing or malformed, or two have one name.
    """
    folders: dict[str, Path] = {}
    for folder in _folders(directory):
        if folder.name in folders:
            raise CaseError(f"{folder} and {folders[folder.name]} have the same name")
        folders[folder.name] = folder
    return tuple(_entry(folders[name]) for name in sorted(folders))


def readable(directory: Path) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """The entries in ``directory`` whose files can be read, and a line for each of the others."""
    entries_read, lines = [], []
    for folder in _folders(directory):
        try:
            entries_read.append(_entry(folder))
        except CaseError as error:
            lines.append(" ".join(str(error).split()))
    return tuple(entries_read), tuple(lines)


def entry(name: str, directory: Path = CORPUS) -> Entry:
    """The entry ``name``. Raises ``CaseError`` if there is none, or it is malformed."""
    folder = entry_folder(name, directory)
    if folder is None:
        raise CaseError(f"no entry {name!r} in {directory}")
    return _entry(folder)


def entry_folder(name: str, directory: Path = CORPUS) -> Path | None:
    """The folder of the entry ``name``, whatever its family; None if there is none."""
    return next((folder for folder in _folders(directory) if folder.name == name), None)


def is_entry(folder: Path) -> bool:
    """True if ``folder`` holds a case and its record."""
    return (folder / CASE).is_file() and (folder / FINDING).is_file()


def read_record(folder: Path) -> Record:
    """The record of the case in ``folder``. Raises ``CaseError`` if it cannot be read."""
    path = folder / FINDING
    try:
        return decode_record(path.read_bytes(), Record)
    except OSError as error:
        raise CaseError(f"{path}: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CaseError(f"{path}: {error}") from error


def record_text(record: Record) -> bytes:
    """``record`` as ``finding.json`` holds it, for a person to read."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def _folders(directory: Path) -> Iterator[Path]:
    folders = (path.parent for path in sorted(directory.glob(f"*/*/{CASE}")))
    return (folder for folder in folders if folder.suffix != UNFINISHED)


def _entry(folder: Path) -> Entry:
    return Entry(folder.name, read(folder / CASE), read_record(folder), folder)
