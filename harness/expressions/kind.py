"""Integer expressions as a kind of case: batches of them, and one alone."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from msgspec.structs import replace

from relaxcheck.fixes.sym_api.root import has_relax
from relaxcheck.generators.core.axes import Family, point_of
from relaxcheck.generators.core.case import AnyCase, CaseError
from relaxcheck.generators.expressions.cases import (
    ANALYZED,
    BATCH_FORMAT,
    EXPRESSION_FORMAT,
    ExpressionBatch,
    ExpressionCase,
)
from relaxcheck.generators.expressions.family import family
from relaxcheck.generators.expressions.language import ExpressionError
from relaxcheck.generators.expressions.reduction import weight
from relaxcheck.generators.expressions.subject import validate
from relaxcheck.harness.kind import Kind, Progress, Step, Tracing
from relaxcheck.harness.outcomes.likely_cause import LikelyCause
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict

Either = ExpressionBatch | ExpressionCase


class Expressions(Kind[Either]):
    """Cases about integer expressions.

    A batch is drawn; each of its expressions that fails becomes a case alone.
    """

    name = ExpressionCase.kind
    formats: ClassVar[Mapping[int, type[AnyCase]]] = {
        EXPRESSION_FORMAT: ExpressionCase,
        BATCH_FORMAT: ExpressionBatch,
    }
    along_axes = False

    def check(self, case: Either) -> None:
        """Check the point and the expression of a case that was decoded. Raises ``CaseError``."""
        _check_point(case)
        if isinstance(case, ExpressionCase):
            try:
                validate(case.subject)
            except ExpressionError as error:
                raise CaseError(str(error)) from error

    def families(self, pipelines: Sequence[str]) -> tuple[Family, ...]:
        """The one family."""
        return (family(),)

    def usual_families(self, pipelines: Sequence[str]) -> tuple[Family, ...]:
        """None: expressions are drawn only when the user names their family."""
        return ()

    def families_without_relax(self) -> tuple[Family, ...]:
        """The family in the position that asks the analyzer and compiles nothing."""
        return (family((ANALYZED,)),)

    def runs_without_relax(self, case: Either) -> bool:
        """True if the analyzer alone is asked, without fixes."""
        return case.position == ANALYZED and not case.fixes

    # Executing imports TVM: only workers do that.

    def prepare(self) -> None:
        """Import TVM, and what compiles where it has Relax."""
        from relaxcheck.harness.expressions import execute  # noqa: F401

        if has_relax():
            from relaxcheck.harness.expressions import compiled  # noqa: F401

    def execute(
        self,
        case: Either,
        progress: Progress,
        *,
        plain: bool = False,
        tracing: Tracing | None = None,
    ) -> Outcome:
        """Ask TVM about every expression, or compile it. There are no shortcuts and no passes."""
        from relaxcheck.harness.expressions import execute

        return execute.execute(case, progress)

    def operators(self, case: Either) -> tuple[str, ...]:
        """The family's name: a failure names its check."""
        return (case.family,)

    def way(self, case: Either) -> str:
        """The position of the expression."""
        return f"position {case.position}"

    def at_level(self, case: Either, opt_level: int) -> Either | None:
        """``case`` at LLVM's level ``opt_level``; None where only the analyzer is asked."""
        if case.position == ANALYZED:
            return None
        return replace(case, at={**case.at, "opt_level": opt_level})

    def is_batch(self, case: Either) -> bool:
        """True if it is a batch."""
        return isinstance(case, ExpressionBatch)

    def is_part(self, case: Either) -> bool:
        """True if ``case`` is one expression, or less than a whole batch as it is drawn."""
        if isinstance(case, ExpressionCase):
            return True
        own = family()
        whole = own.build(point_of(own, case), case.seed)
        return case.first > 0 or case.count < whole.count

    def count(self, case: Either) -> int:
        """The number of expressions."""
        return case.count if isinstance(case, ExpressionBatch) else 1

    def weight(self, case: Either, outcomes: Sequence[Outcome]) -> int:
        """Of a batch the number of expressions that were checked and need no run alone."""
        if not isinstance(case, ExpressionBatch):
            return 1
        if any(outcome.verdict is not Verdict.PASS for outcome in outcomes):
            return 0
        parts = {part.identifier for outcome in outcomes for part in outcome.parts}
        return min(outcome.checked for outcome in outcomes) - len(parts)

    def parts(self, case: Either, outcome: Outcome) -> tuple[tuple[AnyCase, ...], ...]:
        """The expressions of a batch that failed, each by itself.

        A batch that did not end, because its worker died or it took too long, is halved; in the end
        that is one expression. An expression that fails for several causes runs once more for each
        but the first.
        """
        if isinstance(case, ExpressionBatch) and outcome.verdict is not Verdict.PASS:
            return (case.halves or case.members,)
        return tuple((part,) for part in outcome.parts)

    def noun(self, case: Either) -> str:
        """A batch is called a block in events."""
        return "block" if isinstance(case, ExpressionBatch) else "expression"

    @property
    def steps(self) -> Sequence[Step[Either]]:
        """One step: every simpler expression, the simplest first."""
        return (_simpler,)

    def measure(self, case: Either) -> tuple[float, ...]:
        """The optimisation level, then how much there is to an expression."""
        if isinstance(case, ExpressionBatch):
            return ()
        return (case.opt_level, *weight(case.subject))

    def blame(self, case: Either) -> dict[str, str]:
        """The expression and its position.

        Also the optimisation level where it does not fail without: only there it is confirmed.
        """
        if isinstance(case, ExpressionBatch):
            return {}
        expression = case.subject.expression
        blame = {
            "expression": str(expression),
            "dtype": expression.dtype,
            "position": case.position,
        }
        return {**blame, "opt_level": str(case.opt_level)} if case.opt_level else blame

    def likely_cause(self, case: Either, outcome: Outcome) -> LikelyCause | None:
        """The first cause of the table that one expression looks like."""
        # The table evaluates expressions with NumPy, which not every command needs.
        from relaxcheck.harness.expressions import analyzer_causes

        return analyzer_causes.likely_cause(case, outcome)


def _simpler(case: Either, outcome: Outcome) -> Iterator[Either]:
    return case.smaller if isinstance(case, ExpressionCase) else iter(())


def _check_point(case: Either) -> None:
    own = family()
    if case.family != own.name:
        raise CaseError(f"a case about expressions of the family {case.family!r}, not {own.name}")
    axes = {axis.name: axis.values for axis in own.axes}
    # A batch is drawn at its point, which must be whole; an expression only needs its position.
    required = set(axes) if isinstance(case, ExpressionBatch) else {"position"}
    for name in sorted(required - case.at.keys()):
        raise CaseError(f"its point has no {name}")
    for name, value in case.at.items():
        if name not in axes:
            raise CaseError(f"its point has an unknown axis {name!r}")
        levels = range(4) if name == "opt_level" else axes[name]
        if not any(value == level and type(value) is type(level) for level in levels):
            raise CaseError(f"{value!r} is no value of {name}")


KIND = Expressions()
