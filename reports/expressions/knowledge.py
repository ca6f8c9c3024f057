"""Lines of a script that give an analyzer the ranges of variables: one by one, or as a context."""

from collections.abc import Iterator, Sequence

from relaxcheck.generators.expressions.cases import ExpressionCase
from relaxcheck.generators.expressions.language import Variable
from relaxcheck.harness.expressions.fault import Asked
from relaxcheck.reports.expressions.source import condition_lines, range_text


def lines(case: ExpressionCase, asked: Asked) -> list[str]:
    """The lines that give ``analyzer`` the ranges of ``case``."""
    return [line for each in case.subject.variables for line in _telling(each, case, asked)]


def _telling(variable: Variable, case: ExpressionCase, asked: Asked) -> list[str]:
    match case.subject.means:
        case "scope":
            return [
                line
                for condition in condition_lines(variable)
                for line in (
                    f"KEPT.append(analyzer.constraint_scope({condition}))",
                    "KEPT[-1].__enter__()",
                )
            ]
        case "bound":
            return [
                f"analyzer.update({variable.name}, "
                f"sym.ConstIntBound({variable.low}, {variable.high}), True)"
            ]
        case "nothing":
            return ["pass"]
    if not asked.after:
        return [f"analyzer.bind({variable.name}, {range_text(variable)})"]
    before = [other for other in asked.first if other.name == variable.name]
    told = [f"analyzer.bind({variable.name}, {range_text(other)})" for other in before]
    return [*told, f"analyzer.bind({variable.name}, {range_text(variable)}, True)"]


def context_lines(case: ExpressionCase, asked: Asked) -> list[str]:
    """The lines that give ``analyzer`` the ranges of ``case`` in ``context``, where it follows one.

    Other ranges come first, in a context of their own, if it knew such before.
    """
    first = [
        *_ranges(asked.first),
        "analyzer.sync_constraint_context(context)",
        "context = sym.ConstraintContext()",
    ]
    return [*(first if asked.after else ()), *_context(case)]


def _context(case: ExpressionCase) -> Iterator[str]:
    match case.subject.means:
        case "scope":
            for variable in case.subject.variables:
                for condition in condition_lines(variable):
                    yield f"context = within(context, {condition})"
        case "range" | "bound":
            yield from _ranges(case.subject.variables)


def _ranges(variables: Sequence[Variable]) -> Iterator[str]:
    for each in variables:
        yield f"context.append(sym.RangeConstraint({each.name}, {range_text(each)}))"


def without_relax(script: str) -> str:
    """``script`` with the names of TIRx alone."""
    for name, there in _THERE:
        script = script.replace(name, there)
    return script


_THERE = (
    ("tirx.IntImm(", "ir.IntImm("),
    ("tvm.ir.", "ir."),
    ("sym.detect_linear_equation(", "tirx.analysis.detect_linear_equation("),
)
"""Names of TVM, and the same in TIRx alone."""
