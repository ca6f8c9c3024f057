"""The corpus: reduced cases, one folder a finding, with the verdict each release gives."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from generators.program import Case, CaseError, read
from harness.outcome import Verdict

CORPUS = Path(__file__).resolve().parent.parent / "corpus"


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an entry is about, and its verdict by release (a prefix of the version) and fixes."""

    title: str
    issue: str | None
    verdicts: dict[str, dict[str, Verdict]]

    def verdict(self, release: str, *, fixes: bool) -> Verdict | None:
        """The verdict that ``release`` gives, or None where nothing is declared."""
        for prefix, by_fixes in self.verdicts.items():
            if release.startswith(prefix):
                return by_fixes.get("on" if fixes else "off")
        return None


@dataclass(frozen=True, slots=True)
class Entry:
    """One folder of the corpus; its name is the entry's."""

    name: str
    case: Case
    expected: Expected


def entries(directory: Path = CORPUS) -> tuple[Entry, ...]:
    """All entries of the corpus, by name.

    Raises:
        CaseError: an entry's file is missing or malformed.
    """
    return tuple(_entry(path.parent) for path in sorted(directory.glob("*/case.json")))


def read_expected(folder: Path) -> Expected:
    """What the entry in ``folder`` declares. Raises ``CaseError`` where that cannot be read."""
    path = folder / "expected.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Expected)
    except (OSError, msgspec.DecodeError) as error:
        raise CaseError(f"{path}: {error}") from error


def _entry(folder: Path) -> Entry:
    return Entry(folder.name, read(folder / "case.json"), read_expected(folder))
