"""Collects the fixes from the modules below given packages that define ``FIX`` or ``FIXES``.

``Fix.after`` orders them. A fix follows directly the one that it names. If several name the same
fix, the one with the fewest followers of its own comes first.
"""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import ModuleType

from relaxcheck.extensions import entry_points
from relaxcheck.extensions.entry_points import skip, usable
from relaxcheck.fixes.framework.fix import Fix


def discovered(packages: Iterable[ModuleType]) -> tuple[Fix, ...]:
    """All fixes defined by modules below ``packages``, in order, and those of installed packages.

    The latter come last, unless they say what they come after. Those that cannot be imported, or
    join the fixes badly, are recorded as broken.

    Raises:
        ValueError: as in ``ordered``.
    """
    own = ordered(fix for package in packages for fix in _defined(package))
    for each, made in usable(entry_points.FIXES, Fix):
        try:
            own = ordered((*own, made if made.after else replace(made, after=own[-1].name)))
        except ValueError as error:
            skip(each, f"{each.name} cannot join the fixes: {error}")
    return own


def _defined(package: ModuleType) -> Iterator[Fix]:
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(info.name)
        if hasattr(module, "FIX"):
            yield module.FIX
        yield from getattr(module, "FIXES", ())


def ordered(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """``fixes``, ordered by ``after``.

    Raises:
        ValueError: two fixes share a name; ``after`` names no fix; none or several have no
            ``after``; or ``after`` forms a cycle.
    """
    by_name: dict[str, Fix] = {}
    for fix in fixes:
        if by_name.setdefault(fix.name, fix) is not fix:
            raise ValueError(f"two fixes are called {fix.name}")
    followers: dict[str | None, list[Fix]] = {}
    for fix in by_name.values():
        if fix.after is not None and fix.after not in by_name:
            raise ValueError(f"{fix.name} comes after {fix.after}, which is no fix")
        followers.setdefault(fix.after, []).append(fix)
    first = followers.get(None, [])
    if len(first) != 1:
        names = ", ".join(sorted(fix.name for fix in first)) or "none"
        raise ValueError(f"one fix must come first, without after; got {names}")
    result = tuple(_from(first[0], followers))
    if len(result) != len(by_name):
        lost = sorted(by_name.keys() - {fix.name for fix in result})
        raise ValueError(f"these fixes come after each other: {', '.join(lost)}")
    return result


def _from(fix: Fix, followers: dict[str | None, list[Fix]]) -> list[Fix]:
    """``fix``, then all fixes that follow it."""
    branches = [_from(follower, followers) for follower in followers.get(fix.name, ())]
    branches.sort(key=lambda branch: (len(branch), branch[0].name))
    return [fix, *(follower for branch in branches for follower in branch)]
