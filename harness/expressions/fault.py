"""Wrong answers about an expression."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from relaxcheck.generators.expressions.language import Variable
from relaxcheck.harness.outcomes.errors import normalise

RAISES = "raises"
"""The question of an exception."""

ALSO = "it also fails "
"""The start of the line of a message that lists other checks that fail."""

RESTORED = "restored"
"""The question whether the analyzer forgets an assumption afterwards."""


class Asked(msgspec.Struct, frozen=True):
    """The check that failed, as ``Outcome.details`` holds it.

    ``question`` names what TVM was asked. ``validity``: its answer has no value where the
    expression has one. ``after`` and ``first``: an analyzer was asked that knew other ranges
    before, ``first``, which were ``after`` all a single ``value`` or a ``range``. ``iterations`` is
    the extent of the symbolic loop in which a kernel was wrong. ``call`` is the function of TVM's
    that raised, where the question is ``RAISES`` and that is known.
    """

    question: str = ""
    validity: bool = False
    after: str = ""
    first: tuple[Variable, ...] = ()
    iterations: int | None = None
    call: str = ""

    @property
    def check(self) -> str:
        """The name of the check: ``simplify-validity-after-range``."""
        validity = "-validity" if self.validity else ""
        return f"{self.question}{validity}" + (f"-after-{self.after}" if self.after else "")


def asked_of(details: Mapping[str, Any]) -> Asked:
    """The check that failed, from the details of an outcome; empty where there are none."""
    return msgspec.convert(details, Asked)


@dataclass(frozen=True, slots=True)
class Fault:
    """One wrong answer to ``asked``.

    ``expression`` is the text of the expression. ``witness`` are the values of the variables at
    which the answer is wrong; empty where it is wrong without any.
    """

    asked: Asked
    message: str
    expression: str
    witness: Mapping[str, int]

    @property
    def check(self) -> str:
        """The name of the check."""
        return self.asked.check

    @property
    def raises(self) -> bool:
        """True if TVM raised instead of answering."""
        return self.asked.question == RAISES

    @property
    def key(self) -> str:
        """Its name among the faults of one expression: the check.

        Of an exception also the message, without the parts that differ between expressions.
        """
        return f"{RAISES} {normalise(self.message)}" if self.raises else self.check

    @property
    def details(self) -> dict[str, Any]:
        """The details of an outcome that reports it."""
        details: dict[str, Any] = msgspec.to_builtins(self.asked)
        return details
