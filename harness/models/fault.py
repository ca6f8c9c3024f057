"""The way in which a program fails, as data.

Two programs fail alike if they end in one verdict, one stage and one message, which is raised at
one place; numbers do not count. That is the predicate of every cut.
"""

import msgspec

from relaxcheck.harness.outcomes.outcome import Verdict


class Fault(msgspec.Struct, frozen=True):
    """The way in which a module fails.

    ``stage`` is a pass, ``codegen`` or ``run``. ``message`` is the telling line of the error, and
    ``folded`` the same without its numbers and names. ``place`` names the functions that raised it.
    ``operators`` are those that LegalizeOps left. ``signal`` ended the process.
    """

    verdict: Verdict
    stage: str
    message: str
    folded: str
    place: str = ""
    operators: tuple[str, ...] = ()
    signal: str = ""

    def alike(self, other: "Fault | None") -> bool:
        """True if ``other`` is the same fault of another program."""
        return other is not None and self.key == other.key

    @property
    def key(self) -> tuple[str, ...]:
        """Everything that two programs with one fault have in common."""
        if self.verdict in (Verdict.PROCESS_DEATH, Verdict.TIMEOUT):
            return (self.verdict, self.stage, self.signal)
        # A cut may leave fewer calls of the same operator behind.
        first = self.operators[:1]
        return (self.verdict, self.stage, self.folded, self.place, *first)
