"""Declared findings are known on the releases that they name."""

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.families import family
from relaxcheck.harness.campaign.campaign import Plan
from relaxcheck.harness.campaign.declared import take_declared, with_declared
from relaxcheck.harness.campaign.state import State
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.known.expected_failures import KnownFinding
from relaxcheck.harness.outcomes.outcome import Verdict

NAME = "conv1d_transpose"
MEMBER = family(NAME, tuple(PIPELINES))


def test_a_finding_that_is_declared_for_one_of_several_releases_is_known() -> None:
    finding = KnownFinding(
        name="old",
        operator=f"nn.{NAME}",
        when={"groups": ("2",)},
        releases=("0.25",),
        verdict=Verdict.SILENT_BAIL,
        issue=None,
        expires="2127-01-01",
        stage="LegalizeOps",
        case=MEMBER.build(complete(MEMBER.axes, {"groups": 2}), 7),
    )
    plan = Plan((MEMBER,), 1, 1.0, (False,), 1)
    for versions, known in ((("0.25.0", "0.26.0"), 1), (("0.26.0",), 0)):
        assert len(with_declared(plan, [finding], versions).known) == known
        state = State(findings={finding.finding.fingerprint: finding.finding})
        take_declared(state, [finding], versions)
        assert len(state.known) == known
        assert state.expectations.expected == ({"old": 1} if known else {})
