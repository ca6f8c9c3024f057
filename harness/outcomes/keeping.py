"""Results kept in a file: a run that was interrupted goes on where it was."""

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from relaxcheck.harness.outcomes.outcome import Verdict

_ROOMS = Path(__file__).parents[2]


class Judged(Protocol):
    """The end of a case."""

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on it, if there is one."""


Cell = TypeVar("Cell", bound=Judged)


class Ended(msgspec.Struct, Generic[Cell], frozen=True, omit_defaults=True):
    """A case that ended: by ``release`` and its ``version``, and ``identifier``.

    Two builds of one version are two releases. ``sources`` is a hash of the modules of ours that
    decide how it ends, "" where another end of a changed module is for the user to ask for.
    """

    release: str
    version: str
    identifier: str
    cell: Cell
    sources: str = ""


class Kept(Generic[Cell]):
    """The cells in the file ``path``, to which each that ends is added at once.

    Those of other ``sources`` do not count. ``reused`` counts those of earlier runs that stand. A
    fault of ours is no result: it runs again.
    """

    def __init__(self, path: Path, cell: type[Cell], sources: str = ""):
        self.path = path
        self.reused = 0
        self._sources = sources
        self._cells: dict[tuple[str, str, str], Cell] = {}
        content = path.read_bytes() if path.is_file() else b""
        self._cut = bool(content) and not content.endswith(b"\n")
        read: Any = msgspec.json.Decoder(Ended[cell])  # type: ignore[valid-type]
        for line in content.splitlines():
            try:
                ended = read.decode(line)
            except msgspec.MsgspecError:
                continue  # The last line of a run that was cut off; its case runs again.
            if ended.sources == sources and ended.cell.verdict is not Verdict.HARNESS_ERROR:
                self._cells[ended.release, ended.version, ended.identifier] = ended.cell

    def get(self, release: str, version: str, identifier: str) -> Cell | None:
        """The cell of a case on a release, None if it has not ended."""
        return self._cells.get((release, version, identifier))

    def add(self, release: str, version: str, identifier: str, cell: Cell) -> None:
        """Keep a cell. Raises ``OSError``."""
        self._cells[release, version, identifier] = cell
        self.path.parent.mkdir(parents=True, exist_ok=True)
        ended = Ended(release, version, identifier, cell, self._sources)
        with self.path.open("ab") as file:
            line = msgspec.json.encode(ended) + b"\n"
            file.write(b"\n" + line if self._cut else line)
        self._cut = False


@cache
def sources_of(rooms: Sequence[str], root: Path = _ROOMS) -> str:
    """A hash of the text of all modules in the folders ``rooms`` of ``root``."""
    whole = hashlib.sha256()
    for room in rooms:
        for path in sorted((root / room).rglob("*.py")):
            text = path.read_bytes()
            whole.update(f"{path.relative_to(root)} {len(text)}\n".encode() + text)
    return whole.hexdigest()[:16]
