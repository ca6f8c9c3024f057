"""The page of passes, and its counts."""

from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from relaxcheck.generators.core.coverage.steering import Steering
from relaxcheck.generators.passes import OUT, PASSES, PUBLISHED
from relaxcheck.generators.passes.family import ORDERS, families
from relaxcheck.harness.compiling.passes.details import ALIKE, CHANGED, UNCOMPILED
from relaxcheck.harness.journal.journal import DRAWN, Journal
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.severity import Severity
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.programs.support.passes import tallies
from relaxcheck.reports.tables.passes import page, table

FUSE = next(each for each in families(("build",)) if each.name == "pass-FuseOps")
CASE = FUSE.build(Steering(FUSE.axes).point(1), 0)

WRONG = Outcome(Verdict.WRONG_VALUE, "compare", "add", details={CHANGED: ["FuseOps"]})
OUTCOMES = (
    Outcome(Verdict.PASS, details={CHANGED: ["FuseOps"]}),
    WRONG,
    replace(WRONG, details={CHANGED: [], ALIKE: "wrong-value"}),
    Outcome(Verdict.BROKEN_MODULE, "FuseOps"),
    Outcome(Verdict.ORACLE_SPLIT, "compare"),
    Outcome(Verdict.NO_ORACLE, details={CHANGED: ["FuseOps"], UNCOMPILED: True}),
)


def _campaign(folder: Path) -> Path:
    with Journal(folder) as journal:
        journal.describe({"release": "0.27"})
        for seed, outcome in enumerate(OUTCOMES):
            case = replace(CASE, seed=seed)
            journal.start(case, DRAWN)
            journal.end(case, outcome)
        journal.start(replace(CASE, passes=UNSET), DRAWN)
    return folder


def test_failures_that_programs_have_without_the_pass_are_counted_apart(tmp_path: Path) -> None:
    counted = tallies([_campaign(tmp_path / "campaign")])
    row = counted["0.27"]["FuseOps"]
    assert (row.programs, row.changed, row.alike, row.aside, row.failed) == (6, 3, 1, 1, 2)
    assert row.judged == 5
    assert row.failures == {Severity.WRONG_RESULT: 1, Severity.BROKEN_MODULE: 1}
    assert list(counted["0.27"]) == [*PASSES, ORDERS]
    (shown,) = table(counted)
    assert shown.row_count == len(PASSES) + 1
    assert "| FuseOps | 6 | 3 | 5 | 1 |  | 1 |  | 1 | 1 |" in page(counted)


def test_the_page_lists_every_name(tmp_path: Path) -> None:
    text = page({})
    assert all(f"| `{name}` |" in text for name in (*PASSES, *PUBLISHED, *OUT))
    assert CHECKOUT is None or (CHECKOUT / "docs" / "passes.md").read_text().startswith(
        text.partition("## Published")[0][:2000]
    )
