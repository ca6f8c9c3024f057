"""The sides of a campaign: with the bundled fixes, without them, or both."""

import enum


class Fixes(enum.StrEnum):
    """Run TVM with the fixes, without them, or each case both ways."""

    ON = "on"
    OFF = "off"
    BOTH = "both"

    @property
    def sides(self) -> tuple[bool, ...]:
        """A case's ``fixes``, for each time that it runs."""
        return {Fixes.ON: (True,), Fixes.OFF: (False,), Fixes.BOTH: (False, True)}[self]
