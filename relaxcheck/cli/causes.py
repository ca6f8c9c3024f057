"""Names of findings, with a warning for each entry of the corpus that cannot be read."""

from collections.abc import Iterable, Sequence

from relaxcheck.cli.terminal import warn
from relaxcheck.harness.known.named import NamedCause, bundled_causes
from relaxcheck.harness.triage.finding import Finding


def known_causes(findings: Iterable[Finding], versions: Sequence[str]) -> dict[str, NamedCause]:
    """The cause in the corpus of each of ``findings`` that has one, by fingerprint.

    ``versions`` of TVM are in question. An entry that cannot be read is a line on standard error.
    """
    named, unread = bundled_causes(findings, versions)
    for line in unread:
        warn(f"{line}; no finding has the name of this corpus entry")
    return named
