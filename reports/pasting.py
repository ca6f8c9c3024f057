"""The script and the issue of a failure, and their title, whatever kind its case is of."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from generators.cases import AnyCase
from generators.expression_cases import Member
from generators.program import Case, CaseError
from harness.attribution import Attribution
from harness.corpus import Culprit
from harness.jobs import Limits
from harness.outcome import Outcome
from harness.reproduction import reproduction
from reports import expression_issue
from reports.issue import Came, issue_text, title_text
from reports.repro import repro_text


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a failure besides; as ``reports.issue.issue_text`` takes it."""

    environment: Mapping[str, str]
    attribution: Attribution | None = None
    culprit: Culprit | None = None
    releases: Mapping[str, Came] = field(default_factory=dict)
    known: str | None = None


def title_of(
    case: AnyCase,
    outcome: Outcome,
    attribution: Attribution | None,
    blame: Mapping[str, str],
    limits: Limits | None = None,
) -> str:
    """What happens, and what it takes. Raises ``CaseError`` where no script could show it."""
    if isinstance(case, Case):
        return title_text(reproduction(case, outcome, limits), attribution, blame)
    return expression_issue.title_text(_alone(case), outcome)


def pasted(
    case: AnyCase, outcome: Outcome, title: str, about: About, limits: Limits | None = None
) -> tuple[str, str]:
    """The script and the issue. Raises ``CaseError`` where no script could show ``outcome``."""
    if not isinstance(case, Case):
        alone = _alone(case)
        script = expression_issue.script_text(alone, outcome, title, about.environment)
        return script, expression_issue.issue_text(
            alone, outcome, title, script, about.environment, about.releases, about.known
        )
    what = reproduction(case, outcome, limits)
    script = repro_text(what, title, about.environment)
    return script, issue_text(
        what,
        title,
        script,
        about.environment,
        attribution=about.attribution,
        culprit=about.culprit,
        releases=about.releases,
        known=about.known,
    )


def _alone(case: AnyCase) -> Member:
    if not isinstance(case, Member):
        raise CaseError(f"case {case.identifier} is a block, of which no script is made")
    return case
