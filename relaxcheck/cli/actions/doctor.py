"""``relaxcheck releases doctor``: compares a TVM with all that relaxcheck uses of it."""

import sys

import msgspec

from relaxcheck.cli.exit_codes import FAILED
from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import console, error_console
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.passes import PASSES
from relaxcheck.harness.releases.doctor.diagnosing import diagnosed
from relaxcheck.harness.releases.releases import release
from relaxcheck.reports.tables.doctor import lines


def doctor(name: str, form: ResultFormat) -> int:
    """Print the diagnosis of the release or build ``name``; 1 if anything is wrong.

    Raises:
        ReleaseError: there is none of that name, or it cannot be asked.
    """
    asked = release(name)
    screen = error_console()
    with screen.status(f"looking for names in {asked.title}"):
        found = diagnosed(asked, tuple(OPERATORS), tuple(PASSES))
    if form is ResultFormat.JSON:
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
    else:
        out = console()
        for line in lines(found, asked.title):
            out.print(line, highlight=False, markup=False, soft_wrap=True)
    return FAILED if found.complaints or found.error else 0
