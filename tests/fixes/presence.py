"""The parts of faults that the running TVM has, with the fixes off; each probed once a process."""

from functools import cache

from relaxcheck import fixes
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.framework.fix import FaultPart, Fix


@cache
def _present(fix: str, part: str) -> bool:
    assert not fixes.installed()
    (asked,) = (
        asked
        for each in fixes.ALL
        if each.name == fix
        for asked in each.parts
        if asked.name == part
    )
    return asked.present()


def present(fix: Fix, part: FaultPart) -> bool:
    """True if the running TVM has ``part`` of the fault that ``fix`` cures."""
    return _present(fix.name, part.name)


def needed(fix: Fix) -> bool:
    """True if the running TVM needs ``fix``."""
    assert not fixes.installed()
    return installation.needed_of((fix,)) == (fix,)
