"""Files that a command writes: whole or not at all, and an error that names them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relaxcheck.generators.core.case import CaseError


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """A block that writes ``place``. Raises ``CaseError`` where that fails."""
    try:
        yield
    except OSError as error:
        raise CaseError(f"cannot write {place}: {error.strerror}") from error


def replace_text(file: Path, text: str) -> None:
    """Replace ``file`` with ``text`` only once all of it is written. Raises ``CaseError``."""
    unfinished = file.with_name(f"{file.name}.new")
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(file)
