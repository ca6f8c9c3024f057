"""The result of running a case again, by its record."""

import pytest

from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.known.replaying import Again, again, declared_item
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict

PROGRAM = Program((Input("x", (4,), "float32"),), (Node("y", "exp", ("x",)),), ("y",))


@pytest.mark.parametrize(
    ("recorded", "now", "result"),
    [
        (None, Verdict.PASS, Again.PASSES),
        (None, Verdict.BUILT, Again.BUILT),
        (Verdict.BUILT, Verdict.BUILT, Again.BUILT),
        (Verdict.PASS, Verdict.BUILT, Again.BUILT),
        (Verdict.WRONG_VALUE, Verdict.BUILT, Again.BUILT),
        (Verdict.WRONG_VALUE, Verdict.PASS, Again.FIXED),
        (Verdict.OPAQUE_CRASH, Verdict.BUILT, Again.FIXED),
        (Verdict.OPAQUE_CRASH, Verdict.OPAQUE_CRASH, Again.STILL_FAILS),
    ],
)
def test_code_that_is_built_does_not_pass(
    recorded: Verdict | None, now: Verdict, result: Again
) -> None:
    item = declared_item("case", Case("exp", PROGRAM), recorded)
    assert again(item, Outcome(now)) is result
