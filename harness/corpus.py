"""The corpus: reduced cases, ``corpus/FAMILY/NAME/``, with all that is known of each.

A folder has four files. ``case.json`` and ``finding.json`` are the data; ``repro.py`` and
``issue.md`` are rendered from them (``reports.finding_folder``), and never written by hand. An
export of a campaign has the same layout.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from generators.cases import AnyCase, read
from generators.program import CaseError
from harness.attribution import Attribution
from harness.bisection.search import Evidence
from harness.outcome import Outcome, Verdict
from harness.releases import within

CORPUS = Path(__file__).resolve().parent.parent / "corpus"

CASE, FINDING, SCRIPT, ISSUE = "case.json", "finding.json", "repro.py", "issue.md"
FILES = (CASE, FINDING, SCRIPT, ISSUE)
"""The files of a folder."""

EXPORTS = "corpus"
"""The folder in a campaign's own that its findings are exported to."""

UNFINISHED = ".new"
"""What the name of a folder ends with until it is complete: it is no entry."""


class Culprit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The pass that breaks it (see ``harness.bisection.search``); ``name`` is None if unknown."""

    name: str | None
    evidence: Evidence
    why: str


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All that is known of a case, as ``finding.json`` holds it.

    ``title`` says what is wrong, ``issue`` is the upstream issue's address. ``verdicts`` are by
    release (a prefix of the version), then by the fixes, ``off`` and ``on``: they are declared,
    and tested. ``reason`` is why it fails with the fixes on, on ``unmended`` releases; empty where
    there is none. The rest is measured: ``outcome``, without the fixes, with the versions in
    ``environment`` and so many ``seconds`` for the case; ``fingerprint``, ``blame`` (axes) and
    ``count`` are the campaign's; ``attribution`` what was put back to its default; ``alike`` the
    fingerprint of the failure on each release where there is one without the fixes. Where there is
    no outcome nothing was measured.
    """

    title: str
    issue: str | None
    verdicts: dict[str, dict[str, Verdict]]
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

    def verdict(self, release: str, *, fixes: bool) -> Verdict | None:
        """The verdict that ``release`` gives, or None where nothing is declared."""
        for prefix, by_fixes in self.verdicts.items():
            if within(release, prefix):
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
    found: dict[str, Path] = {}
    for folder in _folders(directory):
        if folder.name in found:
            raise CaseError(f"{folder} and {found[folder.name]} have the same name")
        found[folder.name] = folder
    return tuple(_entry(found[name]) for name in sorted(found))


def readable(directory: Path) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """The entries in ``directory`` whose files can be read, and a line for each of the others."""
    found, lines = [], []
    for folder in _folders(directory):
        try:
            found.append(_entry(folder))
        except CaseError as error:
            lines.append(" ".join(str(error).split()))
    return tuple(found), tuple(lines)


def entry(name: str, directory: Path = CORPUS) -> Entry:
    """The entry ``name``. Raises ``CaseError`` where there is none, or it is malformed."""
    folder = entry_folder(name, directory)
    if folder is None:
        raise CaseError(f"no entry {name!r} in {directory}")
    return _entry(folder)


def entry_folder(name: str, directory: Path = CORPUS) -> Path | None:
    """The folder of the entry ``name``, whatever its family; None if there is none."""
    return next((one for one in _folders(directory) if one.name == name), None)


def is_entry(folder: Path) -> bool:
    """Whether ``folder`` holds a case and what is declared of it."""
    return (folder / CASE).is_file() and (folder / FINDING).is_file()


def read_record(folder: Path) -> Record:
    """What is known of the case in ``folder``. Raises ``CaseError`` where that cannot be read."""
    path = folder / FINDING
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except OSError as error:
        raise CaseError(f"{path}: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CaseError(f"{path}: {error}") from error


def record_text(record: Record) -> bytes:
    """``record`` as ``finding.json`` holds it, for a person to read."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def _folders(directory: Path) -> Iterator[Path]:
    found = (path.parent for path in sorted(directory.glob(f"*/*/{CASE}")))
    return (folder for folder in found if folder.suffix != UNFINISHED)


def _entry(folder: Path) -> Entry:
    return Entry(folder.name, read(folder / CASE), read_record(folder), folder)
