"""``relaxcheck releases``: lists and installs TVM releases, adds builds."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from relaxcheck.cli.exit_codes import FAILED, INTERRUPTED
from relaxcheck.cli.terminal import called_as, console, warn
from relaxcheck.fixes.sym_api.root import TVM
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.releases import adding, builds, installing
from relaxcheck.harness.releases.builds import Build
from relaxcheck.harness.releases.releases import (
    ALONE,
    ReleaseError,
    State,
    advice,
    column,
    constraints,
    folder,
    known,
    state,
    supported,
)


def show() -> None:
    """Print each release and build, its state and where it is."""
    table = Table(box=None, pad_edge=False)
    for heading in ("release", "state", "where"):
        table.add_column(heading, no_wrap=True)
    for name in (*known(), *ALONE):
        condition = state(name)
        place = "" if condition in (State.OWN, State.MISSING) else str(folder() / name)
        table.add_row(name, str(condition), place)
    own_builds = builds.read(folder())
    for build in own_builds:
        table.add_row(build.name, str(state(build.name)), escape(build.place))
    out = console()
    out.print(table)
    for name in ALONE:
        about = f"{name} is TIRx alone, without Relax: it runs the family algebra, when named"
        out.print(about, highlight=False, soft_wrap=True)
    for build in own_builds:
        out.print(_about(build), highlight=False, markup=False, soft_wrap=True)
    if not all(state(name).usable for name in known()):
        out.print("relaxcheck releases install installs the others of TVM.", highlight=False)


def install(releases: Sequence[str] | None, pip_args: str) -> None:
    """Install ``releases``, or all that are missing.

    Raises:
        CaseError: a release is not supported, or cannot be installed.
    """
    out = console()
    try:
        pip_arguments = shlex.split(pip_args)
    except ValueError as error:
        raise CaseError(f"--pip-args: {error}") from error
    names = releases or list(supported())
    for name in names:
        constraints(name)
    for name in names:
        condition = state(name)
        if condition.usable:
            out.print(f"TVM {name}: {condition}", highlight=False)
            continue
        try:
            _install(out, name, pip_arguments)
        except KeyboardInterrupt:
            out.print(f"TVM {name}: interrupted; to continue, {advice(name)}", highlight=False)
            sys.exit(INTERRUPTED)


def add(
    name: str,
    python: Path | None,
    pythonpath: Sequence[Path],
    library_path: Path | None,
    wheel: Path | None,
) -> int:
    """Add a build; the exit code, 1 if its workers do not start.

    Raises:
        ReleaseError: as ``adding.add``.
    """
    out = console()

    def say(line: str) -> None:
        out.print(f"TVM build {name}: {line}", highlight=False, markup=False)

    build, fault = adding.add(
        name,
        python=python,
        pythonpath=pythonpath,
        library_path=library_path,
        wheel=wheel,
        say=say,
    )
    out.print(_about(build), highlight=False, markup=False, soft_wrap=True)
    if fault:
        warn(f"{name} is added, but its workers do not start: {fault}")
        warn(f"to see all that differs there, run: {called_as()} releases doctor {name}")
        return FAILED
    family = "" if build.root == TVM else "algebra "
    out.print(
        f"To use it: {called_as()} fuzz {family}--tvm {name} --minutes 5",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    return 0


def remove(name: str) -> None:
    """Remove the build ``name``, or what is left of adding it.

    Raises:
        ReleaseError: there is no such build, or it cannot be removed.
    """
    if builds.read_named(folder(), name) is None and not builds.is_left_over(folder(), name):
        added = ", ".join(build.name for build in builds.read(folder())) or "none"
        raise ReleaseError(f"no build {name!r} was added; your builds are: {added}")
    try:
        builds.remove(folder(), name)
    except OSError as error:
        raise ReleaseError(f"TVM build {name}: {error}") from error
    console().print(f"TVM build {name}: removed", highlight=False, markup=False)


def _about(build: Build) -> str:
    if build.root != TVM:
        kind = "TIRx alone, without Relax: it runs the family algebra"
        return f"TVM build {build.name}: version {build.described}; {kind}"
    nearest = column(build.version)
    declared = f"those of {nearest}" if nearest else "none: it is older than all releases"
    return f"TVM build {build.name}: version {build.described}; declared failures: {declared}"


def _install(out: Console, name: str, pip_arguments: list[str]) -> None:
    if out.is_terminal:
        with out.status(f"TVM {name}") as status:
            installing.install(
                name,
                pip_arguments,
                lambda output: status.update(escape(_line(name, output, out.width))),
            )
    else:
        installing.install(
            name,
            pip_arguments,
            lambda output: out.print(_line(name, output, out.width), highlight=False, markup=False),
        )
    out.print(f"TVM {name}: installed in {folder() / name}", highlight=False, soft_wrap=True)


def _line(name: str, output: str, width: int) -> str:
    return f"TVM {name}: {output}"[: width - 4]
