"""A failure of one expression: its title, a script that shows it, an issue."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.expressions.cases import (
    ANALYZED,
    INDEX,
    NEGATIVE,
    PARAMETER,
    SHAPE,
    SIZES,
    UNDEFINED,
    ExpressionCase,
)
from relaxcheck.generators.expressions.language import BOOL, COMPARISONS, apply, names
from relaxcheck.generators.expressions.subject import Problem, is_index
from relaxcheck.harness.expressions.fault import RESTORED, asked_of
from relaxcheck.harness.expressions.kernel_plans import (
    SYMBOLIC,
    UNTOUCHED,
    Kernel,
    Plan,
    kernel_plan,
    negative_points,
    other_sizes,
    shape_plan,
    spread,
    tensor_points,
)
from relaxcheck.harness.outcomes.errors import ALONE, LOCATION
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.environment import ABSENT, OF_TIRX, is_alone, tvm_title
from relaxcheck.reports.expressions import knowledge
from relaxcheck.reports.expressions.behaviour import actual_text, also_wrong, shown_message
from relaxcheck.reports.expressions.source import (
    constant_text,
    declared_lines,
    is_condition,
    node_text,
)
from relaxcheck.reports.issue.template import PACKAGES, TEMPLATES, on_release
from relaxcheck.reports.rendering import Came
from relaxcheck.reports.templating import docstring_text

_WAYS = MappingProxyType(
    {ANALYZED: "the integer analyzer alone", **dict.fromkeys(SIZES, "relax.build")}
)


def script_text(
    case: ExpressionCase, outcome: Outcome, title: str, environment: Mapping[str, str]
) -> str:
    """The script ``repro.py``: exits with 1 while the failure is there, with 0 once it is gone.

    Raises:
        CaseError: the outcome says nothing about TVM, or the case runs with the fixes.
    """
    if not outcome.verdict.is_failure and outcome.verdict is not Verdict.PASS:
        raise CaseError(f"case {case.identifier}: {outcome.verdict} is nothing to be shown")
    if case.fixes:
        raise CaseError(f"case {case.identifier} has the fixes on, which a script does not have")
    analyzed = case.position == ANALYZED
    alone = is_alone(environment)
    body = _analysis(case, outcome, alone) if analyzed else _compiled(case, outcome)
    packages = ("tvm_tirx" if alone else "tvm") if analyzed else "tvm and numpy"
    version = tvm_title(environment)
    word = "Seen" if outcome.verdict.is_failure else "Gone"
    seen = f"{word} with {docstring_text(version)}." if version else ""
    return (
        f'"""{docstring_text(title)}\n\n'
        f"This script needs {packages}. It exits with 1 while the bug is there and "
        f"with 0 once it is gone.\n{seen}\n"
        f'"""\n\n{body}'
    )


def _analysis(case: ExpressionCase, outcome: Outcome, alone: bool) -> str:
    """The script of a question to the analyzer; ``alone``: to that of TIRx alone."""
    subject, check = case.subject, asked_of(outcome.details).question
    dies = outcome.verdict in (Verdict.PROCESS_DEATH, Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY)
    raises = dies or outcome.verdict is Verdict.OPAQUE_CRASH
    conditions = [node_text(constraint) for constraint in subject.constraints]
    predicate = 'tirx.IntImm("bool", 1)'
    if subject.constraints:
        first, *others = subject.constraints
        predicate = node_text(apply("and", first, others[0]) if others else first)
    text = TEMPLATES.get_template("expressions/analysis.py.j2").render(
        declared=declared_lines(subject.variables),
        variables=subject.variables,
        expression=node_text(subject.expression),
        folded=node_text(subject.expression, folding=True),
        is_condition=is_condition(subject.expression),
        conditions=conditions,
        other=None if subject.other is None else node_text(subject.other),
        telling=(knowledge.context_lines if alone else knowledge.lines)(
            case, asked_of(outcome.details)
        ),
        alone=alone,
        predicate=predicate,
        called=asked_of(outcome.details).call,
        calls=_calls(subject, predicate, asked_of(outcome.details).call) if raises else [],
        first=subject.variables[0].name if subject.variables else "",
        beside=_beside(subject),
        check="" if raises else check,
        is_restored=check == RESTORED and not raises,
        raises=raises,
        dies=dies,
    )
    return knowledge.without_relax(text) if alone else text


def _beside(subject: Problem) -> str:
    """The name of the expression that ``subject`` is compared with; empty if there is none."""
    if subject.other is not None:
        return "OTHER"
    dtype = subject.expression.dtype
    return next((each.name for each in subject.variables if each.dtype == dtype), "")


_EVERY = (
    *("analyzer.simplify(EXPRESSION)", "analyzer.rewrite_simplify(EXPRESSION)"),
    *("analyzer.canonical_simplify(EXPRESSION)", "{folded}"),
    *("analyzer.const_int_bound(EXPRESSION)", "analyzer.modular_set(EXPRESSION)"),
    "analyzer.int_set(EXPRESSION, relaxed)",
    "[analyzer.can_prove(claim) for claim in claims()]",
    "[analyzer.can_prove(claim, sym.ProofStrength.SYMBOLIC_BOUND) for claim in claims()]",
)
"""Calls for any expression; ``folded`` makes it of constants that are computed at once."""


def _calls(subject: Problem, predicate: str, called: str) -> list[str]:
    """The calls to make: those of the function ``called``, all where it is not known."""
    folded = node_text(subject.expression, folding=True)
    equal = ["analyzer.can_prove_equal(EXPRESSION, OTHER)"] * (subject.other is not None)
    every = [
        *(call.replace("{folded}", folded) for call in _EVERY),
        *equal,
        *dict.fromkeys(_also(subject, predicate)),
    ]
    # An earlier call may raise something else.
    return [call for call in every if called and f".{called}(" in call] or every


def _also(subject: Problem, predicate: str) -> Iterator[str]:
    """Questions for certain expressions alone, as calls: of comparisons, sums, indices."""
    expression, variables = subject.expression, subject.variables
    first = [variable.name for variable in variables[:1] if variable.name in names(expression)]
    if first and expression.operator in COMPARISONS:
        yield f"sym.deduce_bound({first[0]}, EXPRESSION, {{}}, {{}})"
    alike = [variable.name for variable in variables if variable.dtype == expression.dtype]
    if expression.dtype == BOOL:
        return
    if alike and len(alike) == len(variables):
        for some in (alike, alike[:1]):
            yield f"sym.detect_linear_equation(EXPRESSION, [{', '.join(some)}])"
    if beside := _beside(subject):
        yield f"analyzer.try_compare(EXPRESSION, {beside})"
    if is_index(subject):
        yield f"sym.iter_map_simplify([EXPRESSION], LOOPS, {predicate})"
        for level in ("NoCheck", "Surjective", "Bijective"):
            checked = f"sym.iter_affine_map.IterMapLevel.{level}"
            yield f"sym.detect_iter_map([EXPRESSION], LOOPS, {predicate}, {checked})"


def _compiled(case: ExpressionCase, outcome: Outcome) -> str:
    subject = case.subject
    plan = (shape_plan if case.position in SIZES else kernel_plan)(subject, case.position)
    if plan is None:
        raise CaseError(f"case {case.identifier}: nothing of it is compiled")
    dies = outcome.verdict in (Verdict.PROCESS_DEATH, Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY)
    return TEMPLATES.get_template("expressions/compiled.py.j2").render(
        dies=dies,
        position=case.position,
        opt_level=case.opt_level,
        declared=declared_lines(subject.variables),
        expression=node_text(subject.expression),
        nothing=UNTOUCHED,
        points=case.points,
        **(
            _of_shape(plan, case) if plan.kernel is None else _of_kernel(plan, plan.kernel, outcome)
        ),
    )


def _of_shape(plan: Plan, case: ExpressionCase) -> dict[str, Any]:
    names = [variable.name for variable in plan.subject.variables]
    cases = [
        (tuple(plan.points.binding(point)[name] for name in names), int(plan.wanted[point]), size)
        for point, size in _asked_sizes(plan, case)
    ]
    return {
        "names": ", ".join(names),
        "shape_type": '(getattr(relax, "ShapeStructInfo", None) or relax.ShapeType)',
        "tensor_type": '(getattr(relax, "TensorStructInfo", None) or relax.TensorType)',
        "cases": cases,
        "highest": int(plan.wanted[plan.valid].max()),
        "alone": ALONE,
        "location": LOCATION,
    }


def _asked_sizes(plan: Plan, case: ExpressionCase) -> list[tuple[int, int]]:
    """The points that are asked of a size, with what a tensor is given or to be made of."""
    if case.points == UNDEFINED:
        return [(int(point), 1) for point in spread(np.flatnonzero(~plan.valid))]
    if case.points == NEGATIVE:
        points = negative_points(plan)
    else:
        points = (
            spread(np.flatnonzero(plan.valid)) if case.position == SHAPE else tensor_points(plan)
        )
    sizes = [(int(point), int(plan.wanted[point])) for point in points]
    return sizes + (other_sizes(plan) if case.position == PARAMETER else [])


def _of_kernel(plan: Plan, kernel: Kernel, outcome: Outcome) -> dict[str, Any]:
    wrong = outcome.verdict is Verdict.WRONG_VALUE
    asked = asked_of(outcome.details)
    reverse = asked.question == f"{INDEX}-reversed"
    # Where one way alone is wrong, the other is left out.
    ways = (not (wrong and reverse), kernel.backwards and (reverse or not wrong))
    dtype = kernel.expression.dtype
    point = "0"
    loops = []
    for number, (variable, extent) in enumerate(zip(kernel.variables, kernel.extents, strict=True)):
        offset = f' - tirx.const({variable.low}, "int64")' if variable.low else ""
        place = f'(tirx.Cast("int64", {variable.name}){offset})'
        point = place if point == "0" else f"({point} * {extent} + {place})"
        innermost = kernel.symbolic and number == len(kernel.variables) - 1
        loops.append(
            {
                "name": variable.name,
                "dtype": variable.dtype,
                "low": constant_text(variable.low, variable.dtype),
                "extent": "n" if innermost else constant_text(extent, variable.dtype),
            }
        )
    indices = []
    if kernel.bounds is not None:
        low, high = (constant_text(bound, dtype) for bound in kernel.bounds)
        if ways[0]:
            indices.append(f"tirx.Sub(expression, {low})" if kernel.bounds[0] else "expression")
        if ways[1]:
            indices.append(f"tirx.Sub({high}, expression)")
    lengths = list(range(SYMBOLIC + 1)) if asked.iterations is None else [asked.iterations]
    return {
        "count": kernel.points,
        "bounds": kernel.bounds,
        "guarded": kernel.guarded,
        "symbolic": kernel.symbolic,
        "valid": plan.valid.astype(int).tolist(),
        "point": point,
        "loops": loops,
        "indices": indices,
        "written": kernel.points * sum(ways),
        "cases": [
            (
                n,
                [
                    wanted
                    for backwards in (False, True)
                    if ways[backwards]
                    for wanted in _written(plan, kernel, n, backwards=backwards)
                ],
            )
            for n in (lengths if kernel.symbolic else [0])
        ],
    }


def _written(plan: Plan, kernel: Kernel, n: int, *, backwards: bool) -> list[int]:
    """The output expected of a kernel."""
    outputs = []
    for number, (value, valid) in enumerate(
        zip(plan.wanted.tolist(), plan.valid.tolist(), strict=True)
    ):
        ran = valid or not kernel.guarded
        if kernel.symbolic:
            ran = ran and number % SYMBOLIC < n
        if kernel.bounds is not None:
            value = kernel.bounds[1] - value if backwards else value - kernel.bounds[0]
        outputs.append(value if ran else UNTOUCHED)
    return outputs


def issue_text(
    case: ExpressionCase,
    outcome: Outcome,
    title: str,
    script: str,
    environment: Mapping[str, str],
    releases: Mapping[str, Came],
    known: str | None,
    fault: str = "",
) -> str:
    """The issue as Markdown, in TVM's own template; its first line is the title.

    ``fault`` says what is wrong in TVM's sources.
    """
    area = {ANALYZED: "Arith", **dict.fromkeys(SIZES, "Relax")}.get(case.position, "TIR")
    return TEMPLATES.get_template("issue/issue.md.j2").render(
        title=f"[Bug][{area}] {title}",
        feature="",
        expected=_EXPECTED
        if case.position == ANALYZED
        else f"{_COMPUTED}{_ELSEWHERE.get(case.points, '')}",
        actual=f"{actual_text(case, outcome)}:",
        message=shown_message(case, outcome),
        rounding="",
        source="",
        attribution=also_wrong(outcome),
        culprit=None,
        valid=True,
        releases={name: on_release(came, outcome) for name, came in releases.items()},
        known=known,
        environment=list(_packages(environment)),
        pipeline=_WAYS.get(case.position, "tvm.compile"),
        repro=script,
        patched=False,
        cure="",
        siblings="",
        fault=fault,
    )


def _packages(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The parts of ``environment`` for an issue; TIRx alone by its package, without the oracles."""
    alone = is_alone(environment)
    for name in PACKAGES:
        version = environment.get(name, "")
        if alone and name == PACKAGES[0]:
            yield f"{name}-{OF_TIRX.strip()}", version.removeprefix(OF_TIRX)
        elif version and not (alone and version == ABSENT):
            yield name, version


_EXPECTED = (
    "The analyzer's answers about an expression hold wherever its variables are in their ranges "
    "and the expression neither overflows nor divides by zero."
)
_COMPUTED = "The compiled program computes the expression wherever it has a value."
_ELSEWHERE = MappingProxyType(
    {
        UNDEFINED: " Where it has none, the process goes on.",
        NEGATIVE: " Where it is negative, an error says so.",
    }
)
"""The behaviour expected at further points, by the points of a case."""
