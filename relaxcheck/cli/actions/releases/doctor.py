"""``relaxcheck releases doctor``: compares a TVM with all that relaxcheck uses of it."""

import sys

import msgspec

from relaxcheck.cli.exit_codes import FAILED
from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import console, error_console
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.passes import PASSES
from relaxcheck.harness.releases import builds
from relaxcheck.harness.releases.doctor.diagnosing import diagnosed
from relaxcheck.harness.releases.releases import folder, of_build, release
from relaxcheck.reports.tables.doctor import lines


def called_by_name() -> tuple[str, ...]:
    """The operators whose function in ``relax.op`` a case calls with its attributes."""
    return tuple(name for name, record in OPERATORS.items() if record.form == "call")


def doctor(name: str, form: ResultFormat) -> int:
    """Print the diagnosis of the release or build ``name``; 1 if anything is wrong.

    Raises:
        ReleaseError: there is none of that name, or it cannot be asked.
    """
    build = builds.read_named(folder(), name)
    asked = release(name, alone=True) if build is None else of_build(build)
    screen = error_console()
    with screen.status(f"looking for names in {asked.title}"):
        found = diagnosed(asked, called_by_name(), tuple(PASSES))
    if form is ResultFormat.JSON:
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
    else:
        out = console()
        for line in lines(found, asked.title):
            out.print(line, highlight=False, markup=False, soft_wrap=True)
    return FAILED if found.complaints or found.error else 0
