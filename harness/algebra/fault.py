"""What is wrong with an answer about an expression."""

from collections.abc import Mapping
from dataclasses import dataclass


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
