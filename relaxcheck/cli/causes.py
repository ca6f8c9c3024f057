"""Names of findings, with a warning for each list of causes that cannot be read."""

from collections.abc import Iterable, Sequence

from relaxcheck.cli.terminal import warn
from relaxcheck.harness.known.named import NamedCause, bundled_causes
from relaxcheck.harness.triage.finding import Finding


def known_causes(findings: Iterable[Finding], versions: Sequence[str]) -> dict[str, NamedCause]:
    """The known cause of each of ``findings`` that has one, by fingerprint.

    ``versions`` of TVM are in question. What cannot be read is a line on standard error.
    """
    named, unread = bundled_causes(findings, versions)
    for line in unread:
        warn(f"{line}; no finding has a name from there")
    return named
