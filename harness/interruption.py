"""Ctrl-C and its like: they ask a campaign to end, and come in between nothing."""

import signal
from types import FrameType, TracebackType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What asks to end: a user, whoever manages the machine's jobs, a terminal that goes."""


class Interruption:
    """While it is entered, ``SIGNALS`` raise ``KeyboardInterrupt``, until there is work to finish.

    After ``defer`` they are only written down, however many come: an exception in the middle of a
    transaction, or between two records that belong together, would cost what it interrupts.
    """

    def __init__(self) -> None:
        self._asked: str | None = None
        self._deferring = False

    def __enter__(self) -> Self:
        # Also where a shell started this in the background, with interrupts ignored.
        self._before = {number: signal.signal(number, self._ask) for number in SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            # A process that has been asked to end is about to: nothing is to cut that short.
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
