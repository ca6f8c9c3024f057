"""Passes that a case applies before it is compiled, as data."""

import msgspec

from relaxcheck.generators.core.case import Data

Option = bool | int | str | None
"""The value of an option of a pass."""


class PassCall(Data, frozen=True, omit_defaults=True):
    """One application of the pass ``name`` (``relaxcheck.generators.passes``) with ``options``.

    A pass that ``prepares`` makes the module that a later one asks for: its result is not checked.
    """

    name: str
    options: dict[str, Option] = msgspec.field(default_factory=dict)
    prepares: bool = False
