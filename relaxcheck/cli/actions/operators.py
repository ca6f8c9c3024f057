"""``relaxcheck operators``: prints the support table, or writes it as a page."""

import sys

import msgspec

from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import console
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.programs.support import support
from relaxcheck.harness.releases.registered import registered
from relaxcheck.harness.releases.releases import own, release
from relaxcheck.reports.tables.operators import page, table


def operators(tvm: str | None, form: ResultFormat, *, docs: bool) -> None:
    """Print the support table of the release ``tvm``, or write the page.

    Raises:
        CaseError: there is no checkout to write the page to.
        ReleaseError: there is no such release, or it does not start.
    """
    if docs and CHECKOUT is None:
        raise CaseError("--docs writes to a checkout; this relaxcheck is installed")
    supported = support(registered(release(tvm or own().name)))
    if docs and CHECKOUT is not None:
        path = CHECKOUT / "docs" / "operators.md"
        path.write_text(page(supported))
        console().print(str(path))
    elif form is ResultFormat.JSON:
        sys.stdout.write(msgspec.json.encode(supported.rows).decode() + "\n")
    else:
        console().print(table(supported))
