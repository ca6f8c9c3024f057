"""The analyzer's faults, compiled: do they make a kernel, or a size in Relax, wrong?

A wrong answer of the analyzer need not reach a kernel, and where it does the smallest expression
may be too small to show it: a loop of two iterations is unrolled. So the expression is compiled
with its ranges as they are, and with wider ones.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce

from msgspec import UNSET
from msgspec.structs import replace

from relaxcheck.generators.expressions.cases import (
    ANALYZED,
    INDEX,
    POSITIONS,
    SIZES,
    ExpressionCase,
)
from relaxcheck.generators.expressions.drawing import AXES
from relaxcheck.generators.expressions.family import ONLY_ANALYZED
from relaxcheck.generators.expressions.language import (
    BOOL,
    DIVISIONS,
    LIMITS,
    Expression,
    Variable,
    apply,
    constant,
    nodes,
)
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool

PLACES = POSITIONS[1:]
"""Where an expression is compiled."""

_WIDER = ((0, 0), (0, 2), (0, 8), (2, 0), (2, 8))
"""The number of values added to each range, below and above. With 8 a loop may be symbolic."""

_BY_RANGE = {axis.name: axis.default for axis in AXES if axis.name in ONLY_ANALYZED}


@dataclass(slots=True)
class Compiled:
    """A finding about the analyzer, whose smallest case is ``case``, and its results by place.

    ``failed`` holds the first case that fails there, with its outcome in a fresh process: for the
    same cause, or for another that the expression has as well. ``right`` are the places where
    something was compiled, beside others or alone, and nothing failed alone. The other places have
    no room for the expression.
    """

    finding: Finding
    case: ExpressionCase
    failed: dict[str, tuple[ExpressionCase, Outcome]] = field(default_factory=dict)
    right: set[str] = field(default_factory=set)


def of_the_analyzer(findings: Iterable[Finding]) -> list[Compiled]:
    """Those of ``findings`` for which the analyzer was asked about an expression; none compiled."""
    return [
        Compiled(finding, finding.case)
        for finding in findings
        if isinstance(finding.case, ExpressionCase) and finding.case.position == ANALYZED
    ]


def attempts(case: ExpressionCase, place: str) -> Iterator[ExpressionCase]:
    """The case to compile in ``place`` for ``case``, about which the analyzer was asked."""
    at = {**case.at, **_BY_RANGE, "position": place}
    subject = _plain(case.subject)
    if place == INDEX and subject.expression.dtype == BOOL:
        chosen = apply("select", subject.expression, constant(1), constant(0))
        subject = replace(subject, expression=chosen)
    if place in SIZES:
        subject = _of_sizes(subject)
    seen = set()
    for below, above in _WIDER:
        variables = [_widened(variable, below, above) for variable in subject.variables]
        if place in SIZES:
            variables = [replace(variable, low=max(variable.low, 0)) for variable in variables]
            if any(variable.low > variable.high for variable in variables):
                continue
        wider = replace(subject, variables=tuple(variables))
        if wider not in seen:
            seen.add(wider)
            yield replace(case, at=at, subject=wider, about=UNSET)


def _plain(subject: Problem) -> Problem:
    """``subject`` as one expression: what it is compared with, and what is assumed, within it.

    Leave an assumption out where it may be what keeps a divisor from zero: TVM takes divisions out
    of conditions, and a failure that comes of that is no fault of the analyzer.
    """
    expression = subject.expression
    if subject.other is not None:
        expression = _equal(expression, subject.other)
    if subject.constraints and not any(map(_may_divide_by_zero, nodes(expression))):
        assumed = reduce(lambda left, other: apply("and", left, other), subject.constraints)
        otherwise = constant(0, expression.dtype)
        expression = apply("if_then_else", assumed, expression, otherwise)
    return replace(subject, expression=expression, other=None, constraints=(), means="range")


def _may_divide_by_zero(node: Expression) -> bool:
    return node.operator in DIVISIONS and node.operands[1].operator != "const"


def _equal(left: Expression, other: Expression) -> Expression:
    if left.dtype == BOOL:
        return apply("select", left, other, apply("not", other))
    return apply("==", left, other)


def _of_sizes(subject: Problem) -> Problem:
    """``subject`` over int64, which every size is, in the place of int32."""
    variables = tuple(
        replace(variable, dtype=_wide(variable.dtype)) for variable in subject.variables
    )
    return replace(subject, variables=variables, expression=_widened_tree(subject.expression))


def _widened_tree(node: Expression) -> Expression:
    operands = tuple(map(_widened_tree, node.operands))
    return replace(node, dtype=_wide(node.dtype), operands=operands)


def _wide(dtype: str) -> str:
    return "int64" if dtype == "int32" else dtype


def _widened(variable: Variable, below: int, above: int) -> Variable:
    low, high = LIMITS[variable.dtype]
    return replace(
        variable, low=max(low, variable.low - below), high=min(high, variable.high + above)
    )


def compile_all(pool: Pool, compiled: Sequence[Compiled]) -> None:
    """Compile the case of each of ``compiled`` in every place, and record the outcomes there.

    Run a failure again in a fresh process: it counts only if it fails there too.
    """
    pool.submit(
        *(
            Job(case, _Try(subject, place, turn, case))
            for subject in compiled
            for place in PLACES
            for turn, case in enumerate(attempts(subject.case, place))
        )
    )
    doubtful: dict[tuple[int, str], list[_Try]] = {}
    for tried, outcome in _ended(pool):
        if outcome.verdict is Verdict.PASS:
            tried.of.right.add(tried.place)
        elif _fails(outcome):
            doubtful.setdefault((id(tried.of), tried.place), []).append(tried)
    waiting = [sorted(tries, key=lambda attempt: attempt.turn) for tries in doubtful.values()]
    while waiting:
        pool.submit(*(Job(tries[0].case, tries[0], fresh=True) for tries in waiting))
        failed = set()
        for tried, outcome in _ended(pool):
            if _fails(outcome):
                failed.add(tried)
                tried.of.right.discard(tried.place)
                tried.of.failed[tried.place] = tried.case, outcome
            elif outcome.verdict is Verdict.PASS:
                tried.of.right.add(tried.place)
        # Where the first does not come again, the next may.
        waiting = [tries[1:] for tries in waiting if tries[0] not in failed and tries[1:]]


@dataclass(frozen=True, slots=True, eq=False)
class _Try:
    """The attempt number ``turn`` at compiling what ``of`` is about in ``place``."""

    of: Compiled
    place: str
    turn: int
    case: ExpressionCase


def _ended(pool: Pool) -> Iterator[tuple[_Try, Outcome]]:
    for job, outcome in pool.drain():
        assert isinstance(job.tag, _Try)
        yield job.tag, outcome


def _fails(outcome: Outcome) -> bool:
    return outcome.verdict.is_failure or outcome.verdict is Verdict.HARNESS_ERROR
