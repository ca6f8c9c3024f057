"""Nights without TVM."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import msgspec

from relaxcheck.generators.core.case import encode
from relaxcheck.harness.outcomes.severity import Severity
from relaxcheck.reports.site.night import Night, Seen
from tests.reports.html_campaign import case

FIRST = datetime(2026, 11, 1, 1, 17, tzinfo=UTC)
CASE = msgspec.Raw(encode(case(1)))


def seen(
    fingerprint: str,
    title: str = "",
    *,
    family: str = "add",
    severity: str = "wrong result",
    count: int = 1,
    message: str = "output n0: 1 of 4 elements outside their bound",
    declared: str = "",
) -> Seen:
    """A finding of the operator ``add``."""
    return Seen(
        fingerprint=fingerprint,
        title=title or f"add gives wrong values ({fingerprint})",
        family=family,
        operator=family,
        verdict="wrong-value",
        severity=Severity(severity),
        fixes=False,
        count=count,
        blamed="dtype=int8",
        message=message,
        confirmed=True,
        cured=None,
        releases={},
        case=CASE,
        declared=declared,
    )


def night(
    number: int,
    *findings: Seen,
    gone: tuple[str, ...] = (),
    families: tuple[str, ...] = ("add",),
    release: str = "0.27",
    fingerprints: str = "11",
    stream: str = "7 1/1",
    verdicts: Mapping[str, int] | None = None,
) -> Night:
    """Night ``number``, from 0."""
    began = FIRST + timedelta(days=number)
    return Night(
        name=f"{began:%Y-%m-%d-%H%M%S}",
        began=began,
        ended=began + timedelta(hours=5),
        release=release,
        tvm=f"{release}.0",
        fixes="off",
        target="",
        families=families,
        verdicts=verdicts or {"pass": 900, "wrong-value": 100},
        faults=len(findings),
        fingerprints=fingerprints,
        stream=stream,
        seen=findings,
        gone=gone,
    )
