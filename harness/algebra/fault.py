"""What is wrong with an answer about an expression."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.errors import normalise

RAISES = "raises"
"""The check of what raises."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One wrong answer.

    ``check`` names what was asked. ``expression`` is the text of what it was asked about, and
    ``witness`` the values of the variables at which the answer is wrong; empty where it is wrong
    without any.
    """

    check: str
    message: str
    expression: str
    witness: Mapping[str, int]

    @property
    def key(self) -> str:
        """What tells it from the other faults of its expression: the check; of what raises also
        what is said, without what changes from one expression to the next."""
        if self.check != RAISES:
            return self.check
        return f"{RAISES} {normalise(self.message)}"
