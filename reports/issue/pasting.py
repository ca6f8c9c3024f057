"""The title of a failure, and the script and the issue to paste, whatever kind its case is of."""

from collections.abc import Iterator, Mapping

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.kinds import rendering
from relaxcheck.reports.rendering import About


def title_of(
    case: AnyCase,
    outcome: Outcome,
    attribution: Attribution | None,
    blame: Mapping[str, str],
    limits: Limits | None = None,
) -> str:
    """The title of a failure. Raises ``CaseError`` if no script can show it."""
    return rendering(case).title(case, outcome, attribution, blame, limits)


def distinctions_of(case: AnyCase, outcome: Outcome) -> Iterator[str]:
    """Phrases to end a title with that another failure has as well. Raises as ``title_of``."""
    return rendering(case).distinctions(case, outcome)


def pasted(
    case: AnyCase, outcome: Outcome, title: str, about: About, limits: Limits | None = None
) -> tuple[str, str]:
    """The script and the issue. Raises ``CaseError`` where no script could show ``outcome``."""
    return rendering(case).pasted(case, outcome, title, about, limits)
