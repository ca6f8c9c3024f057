"""A campaign without TVM, for the page's tests: a journal with cases, findings and outcomes."""

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from generators.axes import complete
from generators.families import family
from generators.program import Case
from harness.finding import Finding, Reduced, finding_of
from harness.journal import DRAWN, TRIAL, Journal
from harness.outcome import Check, Outcome, Verdict
from harness.pipelines import PIPELINES
from harness.releases import own

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
    found = family(NAME, tuple(PIPELINES))
    point = {name.replace("__", "."): value for name, value in values.items()}
    return found.build(complete(found.axes, point), seed)


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
        for one, outcome, finding in ended:
            journal.start(one, DRAWN)
            journal.end(one, outcome)
            # SQLite's clock counts milliseconds: what starts in the same one has no order.
            time.sleep(0.002)
            if finding is not None:
                journal.count_to(one, finding.fingerprint)
        trial = case(99)
        journal.start(trial, TRIAL)
        journal.end(trial, PASS)
        for one in findings:
            journal.write_finding(one.fingerprint, msgspec.json.encode(one))
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
