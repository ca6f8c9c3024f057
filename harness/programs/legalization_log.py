"""The log of TVM's legalizations: the only place with the reason that they leave a call.

They log at level INFO, which the root logger drops by default.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from relaxcheck.harness.outcomes.errors import names_operator

LOGGED = "logged at level INFO: "
"""The prefix of the line in a silent bail's message that TVM logged."""

_WHERE = "legalize_ops"
"""The folder of TVM's legalizations; other modules' logs do not count."""

SYMPTOM = "symptom"
"""The key, in the details of a silent bail, of the error in which ``relax.build`` then ends."""


class _Collecting(logging.Handler):
    """Keeps the texts that legalizations log, in order, each once."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if _WHERE not in record.pathname:
            return
        try:
            text = " ".join(record.getMessage().split())
        except Exception:
            # Its arguments do not fit its format: logging's own way to tell that.
            self.handleError(record)
            return
        if text not in self.texts:
            self.texts.append(text)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the texts that legalizations log, one line each; restores the root logger."""
    root, handler = logging.getLogger(), _Collecting()
    level = root.level
    root.addHandler(handler)
    root.setLevel(min(level, logging.INFO) if level else logging.INFO)
    try:
        yield handler.texts
    finally:
        root.setLevel(level)
        root.removeHandler(handler)


def reason(operator: str, logged: Sequence[str]) -> str:
    """The line of a message that quotes TVM's reason to leave a call of ``operator``; "" if none.

    The reason is the first logged text that names the operator, or the first of all if none does:
    calls of one operator may be left for several reasons.
    """
    telling = [text for text in logged if names_operator(text, operator)] or logged
    return f"{LOGGED}{telling[0]}" if telling else ""
