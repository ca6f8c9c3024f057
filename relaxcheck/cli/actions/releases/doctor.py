"""``relaxcheck releases doctor``: compares a TVM with all that relaxcheck uses of it."""

import sys

import msgspec

from relaxcheck.cli.exit_codes import FAILED
from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import console, error_console
from relaxcheck.extensions.entry_points import GROUPS, broken, registered, skip
from relaxcheck.extensions.naming import ExtensionError
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.passes import PASSES
from relaxcheck.harness.releases import builds
from relaxcheck.harness.releases.doctor.diagnosing import diagnosed
from relaxcheck.harness.releases.releases import folder, of_build, release
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.starting import PoolError
from relaxcheck.reports.tables.doctor import lines


def called_by_name() -> tuple[str, ...]:
    """The operators whose function in ``relax.op`` a case calls with its attributes."""
    return tuple(name for name, record in OPERATORS.items() if record.form == "call")


def doctor(name: str, form: ResultFormat) -> int:
    """Print the diagnosis of the release or build ``name``; 1 if anything is wrong.

    Entry points of installed packages that cannot be used are listed as well, whatever ``name`` is.

    Raises:
        ReleaseError: there is none of that name, or it cannot be asked.
    """
    build = builds.read_named(folder(), name)
    asked = release(name, alone=True) if build is None else of_build(build)
    screen = error_console()
    with screen.status(f"looking for names in {asked.title}"):
        found = diagnosed(asked, called_by_name(), tuple(PASSES))
        found = msgspec.structs.replace(found, extensions=broken_extensions())
    if form is ResultFormat.JSON:
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
    else:
        out = console()
        for line in lines(found, asked.title):
            out.print(line, highlight=False, markup=False, soft_wrap=True)
    return FAILED if found.complaints or found.error or found.extensions else 0


def broken_extensions() -> tuple[str, ...]:
    """Why each entry point that cannot be used cannot, as workers and this process find out."""
    every = [each for group in GROUPS for each in registered(group).values()]
    for each in every:
        try:
            each.load()
        except ExtensionError as error:
            skip(each, error)
    lines = []
    if every:
        try:
            # Workers register operators with TVM, and check the types of oracles and fixes.
            Pool(1).close()
        except PoolError as error:
            lines.append(str(error))
    return (*(each.message for each in broken()), *lines)
