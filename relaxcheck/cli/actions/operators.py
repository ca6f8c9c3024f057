"""``relaxcheck operators``: prints the support table, or writes it as a page."""

import sys
from collections.abc import Mapping

import msgspec

from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import campaigns, console, warn
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.known.corpus import readable
from relaxcheck.harness.known.expected_failures import declared
from relaxcheck.harness.paths import CHECKOUT, CORPUS
from relaxcheck.harness.programs.support.audit import by_operator, known_failures
from relaxcheck.harness.programs.support.rows import support
from relaxcheck.harness.releases.registered import registered
from relaxcheck.harness.releases.releases import own, release
from relaxcheck.reports.page.operators import COMMITTED, support_text
from relaxcheck.reports.page.records import read_campaign
from relaxcheck.reports.tables.operators import page, table


def operators(tvm: str | None, form: ResultFormat, *, docs: bool) -> None:
    """Print the support table of the release ``tvm``, or write the page.

    Raises:
        CaseError: there is no checkout to write the page to.
        ReleaseError: there is no such release, or it does not start.
    """
    if docs and CHECKOUT is None:
        raise CaseError("--docs writes to a checkout; this relaxcheck is installed")
    asked = release(tvm or own().name)
    operators_there = registered(asked)
    if docs and CHECKOUT is not None:
        supported = support(operators_there, release=asked.name)
        for path, text in (
            (CHECKOUT / "docs" / "operators.md", page(supported)),
            (COMMITTED, support_text(supported)),
        ):
            path.write_text(text)
            console().print(str(path))
        return
    readable_entries, unreadable = readable(CORPUS)
    for line in unreadable:
        warn(f"{line}; its failure is not counted")
    known = known_failures(readable_entries, declared(), asked.name)
    supported = support(operators_there, known, _last_verdicts(), asked.name)
    if form is ResultFormat.JSON:
        sys.stdout.write(msgspec.json.encode(supported.rows).decode() + "\n")
    else:
        console().print(table(supported))


def _last_verdicts() -> Mapping[str, Mapping[str, int]]:
    """The verdicts of the campaign written last, by operator; none if there is no campaign.

    Raises:
        JournalError: it cannot be read.
    """
    written = campaigns()
    if not written:
        return {}
    record = read_campaign(written[0])
    return by_operator((case.family, case.verdict, case.count) for case in record.ran)
