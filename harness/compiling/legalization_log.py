"""The log of TVM's legalizations: the only place with the reason that they leave a call.

They log at level INFO, which the root logger drops by default.
"""

import logging
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from relaxcheck.harness.outcomes.errors import names_operator
from relaxcheck.harness.outcomes.sources import SourceLine, line_of

LOGGED = "logged at level INFO: "
"""The prefix of the line in a silent bail's message that TVM logged."""

_WHERE = "legalize_ops"
"""The folder of TVM's legalizations; other modules' logs do not count."""

SYMPTOM = "symptom"
"""The key, in the details of a silent bail, of the error in which ``relax.build`` then ends."""


class _Collecting(logging.Handler):
    """Keeps the texts that legalizations log, in order, and the line that first logs each."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: dict[str, SourceLine | None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        if _WHERE not in record.pathname:
            return
        try:
            text = " ".join(record.getMessage().split())
        except Exception:
            # Its arguments do not fit its format: logging's own way to tell that.
            self.handleError(record)
            return
        self.lines.setdefault(text, line_of(record))


def listen() -> None:
    """Have the root logger pass on what legalizations log, as long as this process lives.

    ``collected`` does so itself, but each change of the level empties what all loggers remember.
    """
    root = logging.getLogger()
    root.setLevel(_level(root))


def _level(root: logging.Logger) -> int:
    return min(root.level, logging.INFO) if root.level else logging.INFO


@contextmanager
def collected() -> Iterator[dict[str, SourceLine | None]]:
    """Collect the texts that legalizations log, one line each; restores the root logger.

    Each is mapped to the line of TVM's that logged it; None if it is none of TVM's.
    """
    root, handler = logging.getLogger(), _Collecting()
    level, wanted = root.level, _level(root)
    root.addHandler(handler)
    if level != wanted:
        root.setLevel(wanted)
    try:
        yield handler.lines
    finally:
        if level != wanted:
            root.setLevel(level)
        root.removeHandler(handler)


def reason(operator: str, logged: Collection[str]) -> str:
    """The line of a message that quotes TVM's reason to leave a call of ``operator``; "" if none.

    The reason is the first logged text that names the operator, or the first of all if none does:
    calls of one operator may be left for several reasons.
    """
    text = _telling(operator, logged)
    return "" if text is None else f"{LOGGED}{text}"


def reason_line(operator: str, logged: Mapping[str, SourceLine | None]) -> SourceLine | None:
    """The line of TVM's that logged the reason; None if there is none."""
    text = _telling(operator, logged)
    return None if text is None else logged[text]


def _telling(operator: str, logged: Collection[str]) -> str | None:
    naming = (text for text in logged if names_operator(text, operator))
    return next(naming, next(iter(logged), None))
