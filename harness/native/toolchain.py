"""The programs of this machine that compile the code of a target."""

import os
import shutil
from importlib.metadata import PackageNotFoundError, version

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.targets import TARGETS, Target


def compiler(target: Target) -> str | None:
    """The path of a program that compiles code of ``target``; None if there is none."""
    chosen = os.environ.get("CXX") or os.environ.get("CC") if target.needed else None
    names = (chosen, *target.compilers) if chosen else target.compilers
    return next((path for name in names if (path := shutil.which(name))), None)


def chosen_target(name: str) -> Target:
    """The target called ``name``, which this machine can try.

    Raises:
        CaseError: there is no such target, or this machine lacks what it needs.
    """
    if name not in TARGETS:
        raise CaseError(f"no target {name!r}; the targets are {', '.join(TARGETS)}")
    target = TARGETS[name]
    if target.needed and compiler(target) is None:
        raise CaseError(
            f"the target {name} needs a {target.language} compiler: install one of "
            f"{', '.join(target.compilers)}"
        )
    return target


def missing(target: Target) -> str:
    """The way to have code of ``target`` compiled or run here, if a package for it is missing."""
    if compiler(target) is not None or not target.packages:
        return ""
    lacks = [name for name in target.packages if not _is_installed(name)]
    if not lacks:
        return ""
    return (
        f"{target.language} is generated, and neither compiled nor run, without "
        f"{' and '.join(lacks)}: make targets, or pip install 'relaxcheck[targets]'"
    )


def _is_installed(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False
