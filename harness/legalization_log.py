"""What TVM's legalizations log when they leave a call as it is: the only place that says why.

At level INFO, which nobody sees: the root logger passes on WARNING and above.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from harness.errors import names_operator

LOGGED = "logged at level INFO: "
"""What the line of a silent bail's message begins with that TVM logged."""

_WHERE = "legalize_ops"
"""The folder of TVM's legalizations; what others log is none of ours."""


class _Collecting(logging.Handler):
    """Keeps what legalizations log, in order, each text once."""

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
    """What legalizations log meanwhile, one line each; the root logger is as it was afterwards."""
    root, handler = logging.getLogger(), _Collecting()
    level = root.level
    root.addHandler(handler)
    root.setLevel(min(level, logging.INFO) if level else logging.INFO)
    try:
        yield handler.texts
    finally:
        root.setLevel(level)
        root.removeHandler(handler)


def with_reason(message: str, operator: str, logged: Sequence[str]) -> str:
    """``message``, of a call of ``operator`` that was left, and a line with what was logged of it.

    That is the first text that names the operator, or the first of all where none does: calls of
    one operator may be left for several reasons.
    """
    telling = [text for text in logged if names_operator(text, operator)] or logged
    return f"{message}\n{LOGGED}{telling[0]}" if telling else message


def reason_in(message: str) -> str:
    """The line of a silent bail's ``message`` that TVM logged; "" where there is none."""
    lines = (line.strip() for line in message.splitlines())
    return next((line for line in lines if line.startswith(LOGGED)), "")
