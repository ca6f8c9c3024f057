"""Integer expressions for a person to read."""

from collections.abc import Mapping

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.expressions.cases import ANALYZED, ExpressionBatch, ExpressionCase
from relaxcheck.generators.expressions.language import size
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.wording import plural
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.expressions import issue
from relaxcheck.reports.expressions.behaviour import title_text
from relaxcheck.reports.rendering import About, Rendering

Either = ExpressionBatch | ExpressionCase


class ExpressionRendering(Rendering[Either]):
    """One expression as text and as a script; of a batch only its numbers."""

    def text(self, case: Either) -> str:
        """A line for each variable, and the expression."""
        if isinstance(case, ExpressionBatch):
            last = case.first + case.count - 1
            numbers = f"expressions {case.first} to {last} of seed {case.seed}"
            return f"{numbers}\n# position {case.position}"
        variables = (
            f"{variable.name}: {variable.dtype}, {variable.low} to {variable.high}"
            for variable in case.subject.variables
        )
        compiled = case.position != ANALYZED
        level = f", LLVM level {case.opt_level}" if compiled else ""
        last_line = f"# position {case.position}{level}"
        return "\n".join((*variables, str(case.subject.expression), last_line))

    def extent(self, case: Either) -> str:
        """Counts of nodes and variables, and the expression itself."""
        if isinstance(case, ExpressionBatch):
            return plural(case.count, "expression")
        nodes, variables = size(case.subject.expression), len(case.subject.variables)
        return (
            f"{nodes} node{'s' * (nodes != 1)}, {variables} variable{'s' * (variables != 1)}: "
            f"{case.subject.expression}"
        )

    def title(
        self,
        case: Either,
        outcome: Outcome,
        attribution: Attribution | None,
        blame: Mapping[str, str],
        limits: Limits | None = None,
    ) -> str:
        """The check, and the expression with its ranges."""
        return title_text(_alone(case), outcome)

    def pasted(
        self, case: Either, outcome: Outcome, title: str, about: About, limits: Limits | None = None
    ) -> tuple[str, str]:
        """A script that needs TVM and at most NumPy, and the issue with it."""
        alone = _alone(case)
        script = issue.script_text(alone, outcome, title, about.environment)
        return script, issue.issue_text(
            alone,
            outcome,
            title,
            script,
            about.environment,
            about.releases,
            about.known,
            about.fault,
        )


def _alone(case: Either) -> ExpressionCase:
    if isinstance(case, ExpressionBatch):
        raise CaseError(f"case {case.identifier} is a block, of which no script is made")
    return case


RENDERING = ExpressionRendering()
