"""A failure of one expression: its title, a script that shows it, an issue."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from generators.algebra_case import ExpressionCase, is_index
from generators.expression_cases import (
    ANALYZED,
    EXTENT,
    INDEX,
    NEGATIVE,
    PARAMETER,
    SHAPE,
    SIZES,
    UNDEFINED,
    Member,
)
from generators.expressions import BOOL, COMPARISONS, Variable, apply, names
from generators.program import CaseError
from harness.errors import ALONE, LOCATION, headline
from harness.fault import RESTORED, VALIDITY, is_anew, without_first
from harness.kernel_plans import (
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
from harness.outcome import Outcome, Verdict
from reports.expression_source import (
    condition_lines,
    constant_text,
    declared_lines,
    is_condition,
    node_text,
    range_text,
)
from reports.issue import PACKAGES, Came, on_release

_TEMPLATES = Environment(
    loader=PackageLoader("reports"),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TITLE_WORDS = 12
_TOLD_FIRST = re.compile(r"(\w+) in \[(-?\d+), (-?\d+)\]")
_ITERATIONS = re.compile(r" and n = (\d+) is ")

_DOES = MappingProxyType(
    {
        "const_int_bound": "const_int_bound excludes a value of",
        "modular_set": "modular_set excludes a value of",
        "int_set": "int_set does not cover",
        "can_prove": "can_prove proves what does not hold of",
        "can_prove-strong": "can_prove at SYMBOLIC_BOUND proves what does not hold of",
        "can_prove_equal": "can_prove_equal proves two expressions equal that differ, one being",
        "detect_iter_map": "detect_iter_map changes the value of",
        "detect_iter_map-surjective": "detect_iter_map states a range that is not that of",
        "detect_iter_map-bijective": "detect_iter_map takes for bijective what is not:",
        "fold": "constants are folded wrong in",
        RESTORED: "a constraint scope leaves something behind, seen in the simplification of",
        "value": "a kernel computes another value than",
        INDEX: "a kernel loads from another index than",
        f"{INDEX}-reversed": "a kernel loads from another index than the end minus",
        SHAPE: "Relax computes another size than",
        PARAMETER: "Relax refuses a tensor of the size",
        f"{PARAMETER}-accepted": "Relax accepts a tensor of another size than",
        f"{PARAMETER}-untold": "an error does not tell the size of a tensor, which is not",
        EXTENT: "Relax makes a tensor of another size than",
    }
)
"""What the one that is asked does, by check; then comes the expression."""

_WAYS = MappingProxyType(
    {ANALYZED: "the integer analyzer alone", **dict.fromkeys(SIZES, "relax.build")}
)


def title_text(case: Member, outcome: Outcome) -> str:
    """What happens with the expression, and where its variables are; for a title."""
    where = ", ".join(
        f"{one.name}: {one.dtype} in [{one.low}, {one.high}]" for one in case.subject.variables
    )
    about = f"{case.subject.expression}" + (f" with {where}" if where else "")
    if outcome.verdict in (Verdict.WRONG_VALUE, Verdict.PASS):
        return f"{_does(outcome.operator or '')} {about}"
    place = "the analyzer" if case.position == ANALYZED else f"an expression as {_place(case)}"
    if outcome.verdict is Verdict.OPAQUE_CRASH:
        words = headline(outcome.message).partition(": ")[2].split()[:_TITLE_WORDS]
        return f'{place} raises "{" ".join(words)} …": {about}'
    ends = {Verdict.TIMEOUT: "does not end", Verdict.OUT_OF_MEMORY: "takes all memory"}
    return f"{place} {ends.get(outcome.verdict, 'ends the process')}: {about}"


def _does(check: str) -> str:
    anew = " (ranges told anew)" if is_anew(check) else ""
    check = without_first(check)
    if check.endswith(VALIDITY):
        said = f"{check.removesuffix(VALIDITY)} adds an overflow or a division by zero to"
    else:
        said = _DOES.get(check, f"{check} changes the value of")
    return said.replace(" ", anew + " ", 1) if anew else said


def _place(case: Member) -> str:
    places = {
        INDEX: "an index",
        SHAPE: "a size",
        PARAMETER: "the size of a parameter",
        EXTENT: "the size of a tensor that is made",
    }
    return places.get(case.position, "a value in a kernel")


def script_text(case: Member, outcome: Outcome, title: str, environment: Mapping[str, str]) -> str:
    """The script ``repro.py``: exits with 1 while the failure is there, with 0 once it is gone.

    Raises:
        CaseError: the outcome says nothing about TVM, or the case runs with the fixes.
    """
    if not outcome.verdict.is_failure and outcome.verdict is not Verdict.PASS:
        raise CaseError(f"case {case.identifier}: {outcome.verdict} is nothing to be shown")
    if case.fixes:
        raise CaseError(f"case {case.identifier} has the fixes on, which a script does not have")
    analyzed = case.position == ANALYZED
    body = _analysis(case, outcome) if analyzed else _compiled(case, outcome)
    packages = "tvm" if analyzed else "tvm and numpy"
    version = environment.get("apache-tvm", "")
    seen = f" {'Seen' if outcome.verdict.is_failure else 'Gone'} with apache-tvm {version}."
    quoted = title.replace("\\", "/").replace('"', "'")
    return (
        f'"""{quoted}\n\nThis script needs {packages}. It exits with 1 while the bug is there and '
        f"with 0 once it is gone.\n{seen.strip() if version else ''}\n"
        f'"""\n\n{body}'
    )


def _analysis(case: Member, outcome: Outcome) -> str:
    subject, operator = case.subject, outcome.operator or ""
    check = without_first(operator).removesuffix(VALIDITY)
    dies = outcome.verdict in (Verdict.PROCESS_DEATH, Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY)
    raises = dies or outcome.verdict is Verdict.OPAQUE_CRASH
    conditions = [node_text(one) for one in subject.constraints]
    predicate = 'tirx.IntImm("bool", 1)'
    if subject.constraints:
        first, *others = subject.constraints
        predicate = node_text(apply("and", first, others[0]) if others else first)
    return _TEMPLATES.get_template("expression_analysis.py.j2").render(
        declared=declared_lines(subject.variables),
        variables=subject.variables,
        expression=node_text(subject.expression),
        folded=node_text(subject.expression, folding=True),
        is_condition=is_condition(subject.expression),
        conditions=conditions,
        other=None if subject.other is None else node_text(subject.other),
        telling=[line for one in subject.variables for line in _telling(one, case, outcome)],
        predicate=predicate,
        also=list(_also(subject, predicate)) if raises else [],
        check="" if raises else check,
        is_restored=check == RESTORED and not raises,
        raises=raises,
        dies=dies,
    )


def _also(subject: ExpressionCase, predicate: str) -> Iterator[str]:
    """What is asked of some expressions alone, as calls: of comparisons, sums, indices."""
    expression, variables = subject.expression, subject.variables
    named = [one.name for one in variables if one.name in names(expression)]
    if expression.operator in COMPARISONS and named[:1] == [one.name for one in variables[:1]]:
        yield f"sym.deduce_bound({named[0]}, EXPRESSION, {{}}, {{}})"
    alike = [one.name for one in variables if one.dtype == expression.dtype]
    if expression.dtype == BOOL:
        return
    if alike and len(alike) == len(variables):
        for some in (alike, alike[:1]):
            yield f"sym.detect_linear_equation(EXPRESSION, [{', '.join(some)}])"
    if subject.other is not None or alike:
        beside = "OTHER" if subject.other is not None else alike[0]
        yield f"analyzer.try_compare(EXPRESSION, {beside})"
    if is_index(subject):
        yield f"sym.iter_map_simplify([EXPRESSION], LOOPS, {predicate})"
        for level in ("NoCheck", "Surjective", "Bijective"):
            checked = f"sym.iter_affine_map.IterMapLevel.{level}"
            yield f"sym.detect_iter_map([EXPRESSION], LOOPS, {predicate}, {checked})"


def _telling(one: Variable, case: Member, outcome: Outcome) -> list[str]:
    """How an analyzer is told the range of ``one``."""
    match case.subject.told:
        case "scope":
            return [
                line
                for condition in condition_lines(one)
                for line in (
                    f"KEPT.append(analyzer.constraint_scope({condition}))",
                    "KEPT[-1].__enter__()",
                )
            ]
        case "bound":
            return [f"analyzer.update({one.name}, sym.ConstIntBound({one.low}, {one.high}), True)"]
        case "nothing":
            return ["pass"]
    if not is_anew(outcome.operator or ""):
        return [f"analyzer.bind({one.name}, {range_text(one)})"]
    first = [
        Variable(one.name, one.dtype, int(low), int(high))
        for name, low, high in _TOLD_FIRST.findall(outcome.message.partition(", told ")[2])
        if name == one.name
    ]
    lines = [f"analyzer.bind({one.name}, {range_text(other)})" for other in first]
    return [*lines, f"analyzer.bind({one.name}, {range_text(one)}, True)"]


def _compiled(case: Member, outcome: Outcome) -> str:
    subject = case.subject
    plan = (shape_plan if case.position in SIZES else kernel_plan)(subject, case.position)
    if plan is None:
        raise CaseError(f"case {case.identifier}: nothing of it is compiled")
    dies = outcome.verdict in (Verdict.PROCESS_DEATH, Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY)
    return _TEMPLATES.get_template("expression_compiled.py.j2").render(
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


def _of_shape(plan: Plan, case: Member) -> dict[str, Any]:
    names = [one.name for one in plan.subject.variables]
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


def _asked_sizes(plan: Plan, case: Member) -> list[tuple[int, int]]:
    """The points that are asked of a size, with what a tensor is given or to be made of."""
    if case.points == UNDEFINED:
        return [(int(one), 1) for one in spread(np.flatnonzero(~plan.valid))]
    if case.points == NEGATIVE:
        found = negative_points(plan)
    else:
        found = (
            spread(np.flatnonzero(plan.valid)) if case.position == SHAPE else tensor_points(plan)
        )
    sizes = [(int(one), int(plan.wanted[one])) for one in found]
    return sizes + (other_sizes(plan) if case.position == PARAMETER else [])


def _of_kernel(plan: Plan, kernel: Kernel, outcome: Outcome) -> dict[str, Any]:
    wrong = outcome.verdict is Verdict.WRONG_VALUE
    reverse = outcome.operator == f"{INDEX}-reversed"
    # Where one way alone is wrong, the other is left out.
    ways = (not (wrong and reverse), kernel.backwards and (reverse or not wrong))
    dtype = kernel.expression.dtype
    point = "0"
    loops = []
    for number, (one, extent) in enumerate(zip(kernel.variables, kernel.extents, strict=True)):
        offset = f' - tirx.const({one.low}, "int64")' if one.low else ""
        place = f'(tirx.Cast("int64", {one.name}){offset})'
        point = place if point == "0" else f"({point} * {extent} + {place})"
        innermost = kernel.symbolic and number == len(kernel.variables) - 1
        loops.append(
            {
                "name": one.name,
                "dtype": one.dtype,
                "low": constant_text(one.low, one.dtype),
                "extent": "n" if innermost else constant_text(extent, one.dtype),
            }
        )
    indices = []
    if kernel.bounds is not None:
        low, high = (constant_text(bound, dtype) for bound in kernel.bounds)
        if ways[0]:
            indices.append(f"tirx.Sub(expression, {low})" if kernel.bounds[0] else "expression")
        if ways[1]:
            indices.append(f"tirx.Sub({high}, expression)")
    said = _ITERATIONS.search(outcome.message)
    lengths = [int(said[1])] if said else list(range(SYMBOLIC + 1))
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
                    one
                    for backwards in (False, True)
                    if ways[backwards]
                    for one in _written(plan, kernel, n, backwards=backwards)
                ],
            )
            for n in (lengths if kernel.symbolic else [0])
        ],
    }


def _written(plan: Plan, kernel: Kernel, n: int, *, backwards: bool) -> list[int]:
    """What a kernel has to write."""
    found = []
    for number, (value, valid) in enumerate(
        zip(plan.wanted.tolist(), plan.valid.tolist(), strict=True)
    ):
        ran = valid or not kernel.guarded
        if kernel.symbolic:
            ran = ran and number % SYMBOLIC < n
        if kernel.bounds is not None:
            value = kernel.bounds[1] - value if backwards else value - kernel.bounds[0]
        found.append(value if ran else UNTOUCHED)
    return found


def issue_text(
    case: Member,
    outcome: Outcome,
    title: str,
    script: str,
    environment: Mapping[str, str],
    releases: Mapping[str, Came],
    known: str | None,
) -> str:
    """The issue as Markdown, in TVM's own template; its first line is the title."""
    area = {ANALYZED: "Arith", **dict.fromkeys(SIZES, "Relax")}.get(case.position, "TIR")
    return _TEMPLATES.get_template("issue.md.j2").render(
        title=f"[Bug][{area}] {title}",
        expected=_EXPECTED if case.position == ANALYZED else _COMPUTED,
        actual=f"{title[0].upper()}{title[1:]}:",
        message=outcome.message.strip(),
        attribution="",
        culprit=None,
        releases={name: on_release(one, outcome) for name, one in releases.items()},
        known=known,
        environment=[(name, environment[name]) for name in PACKAGES if name in environment],
        pipeline=_WAYS.get(case.position, "tvm.compile"),
        repro=script,
    )


_EXPECTED = (
    "What the analyzer says of an expression is so wherever its variables are in their ranges and "
    "the expression neither overflows nor divides by zero."
)
_COMPUTED = "What is compiled computes the expression wherever it has a value."
