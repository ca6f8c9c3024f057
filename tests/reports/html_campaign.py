"""A campaign without TVM, for the page's tests: a journal with cases, findings and outcomes."""

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.journal.journal import DRAWN, TRIAL, Journal
from relaxcheck.harness.outcomes.outcome import Check, Outcome, Verdict
from relaxcheck.harness.releases.releases import own
from relaxcheck.harness.triage.finding import Finding, Reduced, finding_of

NAME = "conv1d_transpose"
WRONG = Outcome(
    Verdict.WRONG_VALUE,
    "compare",
    None,
    "output convolved: 1 of 4 elements outside their bound",
    (Check({}, "convolved", None, ("pytorch",), 4),),
    ("pytorch",),
)
CRASH = Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps", f"nn.{NAME}", "InternalError: <b>no & no</b>")
PASS = Outcome(Verdict.PASS)


def case(seed: int = 0, **values: bool | int | str | None) -> Case:
    """The case whose axes are at their defaults, but for ``values`` (``__`` is a dot)."""
    result = family(NAME, tuple(PIPELINES))
    point = {name.replace("__", "."): value for name, value in values.items()}
    return result.build(complete(result.axes, point), seed)


DILATED = finding_of(Reduced(case(1, dilation__w=2), WRONG, {"dilation.w": "2"}))
LAYOUT = finding_of(Reduced(case(2, data_layout="NWC"), CRASH, {"data_layout": "NWC"}))


def write(
    folder: Path,
    ended: Sequence[tuple[Case, Outcome, Finding | None]],
    findings: Sequence[Finding] = (DILATED, LAYOUT),
) -> Path:
    """A campaign in ``folder`` with the cases ``ended``, each counted to its finding."""
    with Journal(folder) as journal:
        versions = {"apache-tvm": "0.27.0", "release": own().name}
        journal.describe({**versions, "fixes": "off", "seed": "7"})
        for drawn, outcome, finding in ended:
            journal.start(drawn, DRAWN)
            journal.end(drawn, outcome)
            # SQLite's clock counts milliseconds: what starts in the same one has no order.
            time.sleep(0.002)
            if finding is not None:
                journal.count_to(drawn, finding.fingerprint)
        trial = case(99)
        journal.start(trial, TRIAL)
        journal.end(trial, PASS)
        for drawn in findings:
            journal.write_finding(drawn.fingerprint, msgspec.json.encode(drawn))
    return folder


def usual(folder: Path) -> Path:
    """Four cases, two findings, one of them met twice."""
    ended = [
        (case(3), PASS, None),
        (DILATED.case, WRONG, DILATED),
        (case(4, dilation__w=3), WRONG, DILATED),
        (LAYOUT.case, CRASH, LAYOUT),
    ]
    counted = msgspec.structs.replace(DILATED, count=2, confirmed=True)
    return write(folder, ended, (counted, LAYOUT))
