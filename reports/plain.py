"""Cases of a kind whose package brings no rendering: their JSON, and no script."""

from collections.abc import Mapping

from relaxcheck.generators.core.case import AnyCase, CaseError, text_of
from relaxcheck.harness.kinds import operators, way
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.rendering import About, Rendering


class Plain(Rendering[AnyCase]):
    """A case as its file has it; a failure by its operators, verdict and message."""

    def text(self, case: AnyCase) -> str:
        """The JSON of ``case``, and how it is run."""
        return f"{text_of(case).decode()}# {way(case)}"

    def extent(self, case: AnyCase) -> str:
        """Its operators."""
        return ", ".join(operators(case))

    def title(
        self,
        case: AnyCase,
        outcome: Outcome,
        attribution: Attribution | None,
        blame: Mapping[str, str],
        limits: Limits | None = None,
    ) -> str:
        """Operators, verdict and the headline of the message."""
        message = headline(outcome.message)
        words = f"{', '.join(operators(case))}: {outcome.verdict}"
        return f"{words}: {message}" if message else words

    def pasted(
        self,
        case: AnyCase,
        outcome: Outcome,
        title: str,
        about: About,
        limits: Limits | None = None,
    ) -> tuple[str, str]:
        """Raise ``CaseError``: nothing here knows how such a case is written as a script."""
        raise CaseError(
            f"case {case.identifier}: no script shows cases of the kind {case.kind}: its package "
            "has no entry point in relaxcheck.renderings"
        )
