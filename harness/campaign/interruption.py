"""Ctrl-C and similar signals: they ask a campaign to end, and never interrupt a transaction."""

import signal
from types import FrameType, TracebackType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Requests to end: from a user, a job manager, a terminal that closes."""


class Interruption:
    """A context in which ``SIGNALS`` raise ``KeyboardInterrupt``, until ``defer`` is called.

    After that they are only remembered: an exception in the middle of a transaction, or between two
    records that belong together, would lose data.
    """

    def __init__(self) -> None:
        self._asked: str | None = None
        self._deferring = False

    def __enter__(self) -> Self:
        # A shell that starts this in the background has interrupts ignored.
        self._before = {number: signal.signal(number, self._ask) for number in SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            # A process that has been asked to end does so: a second signal must not cut it short.
            signal.signal(number, signal.SIG_IGN if self._deferring and self._asked else handler)

    def defer(self) -> None:
        """From now on, do not raise."""
        self._deferring = True

    def __call__(self) -> str | None:
        """The name of the signal that came first, if one came."""
        return self._asked

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self._asked is None:
            self._asked = signal.Signals(number).name
        if not self._deferring:
            raise KeyboardInterrupt
