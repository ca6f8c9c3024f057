"""What is wrong with an answer about an expression."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from harness.errors import normalise

RAISES = "raises"
"""The check of what raises."""

RESTORED = "restored"
"""The check that what was assumed is forgotten."""

VALIDITY = "-validity"
"""How checks end of answers that have no value where the expression has one."""

_ANEW = re.compile(r"-after-\w+$")


def anew(check: str, first: str) -> str:
    """The name of ``check`` where other ranges were told ``first``, of a kind that is one word."""
    return f"{check}-after-{first}"


def is_anew(check: str) -> bool:
    """Whether ``check`` is of what ranges that were told first leave behind."""
    return bool(_ANEW.search(check))


def without_first(check: str) -> str:
    """The name of ``check`` had no other ranges been told first."""
    return _ANEW.sub("", check)


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
