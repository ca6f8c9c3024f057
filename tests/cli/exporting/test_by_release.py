"""Tests of the record of a case on several releases."""

from relaxcheck.cli.actions.exporting.by_release import Ran, with_releases
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.known.corpus import Record
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.reports.issue.finding_folder import releases

WRONG = {"off": Verdict.WRONG_VALUE, "on": Verdict.PASS}
CASE = Case("toy", Program((Input("x", (2,), "float32"),), (Node("y", "exp", ("x",)),), ("y",)))


def test_a_record_has_the_releases_whose_result_is_undefined_memory() -> None:
    outcome = Outcome(Verdict.WRONG_VALUE, "compare", message="off")
    ran = {"0.25": Ran(WRONG, "a", undefined=True), "0.27": Ran(WRONG, "a")}
    record = with_releases(Record("It", None, {}, outcome=outcome), ran, None)
    assert record.undefined == ("0.25",)
    came = releases(CASE, record)
    assert (came["0.25"].undefined, came["0.27"].undefined) == (True, False)
    # A later run that is right there for another reason takes it back.
    later = with_releases(record, {"0.25": Ran(WRONG, "a")}, None)
    assert later.undefined == ()
