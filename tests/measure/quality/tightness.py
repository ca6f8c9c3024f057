"""Tightness of the bounds: bound over largest error, for every operator and dtype.

Random programs of one operator in the normal regime are evaluated in their own dtype, in several
orders of summation, with NumPy, and by PyTorch and ONNX Runtime. *Reached* is how close any element
of any case came to its bound; *typical* the median over cases of bound over largest error. Apart
from these there are inputs made for the worst legal evaluation: where it comes close to the bound,
no smaller bound would be valid, however far off typical errors are.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import cases
from relaxcheck.generators.core.program import Case, Input, Program
from relaxcheck.generators.core.sampling import draw
from relaxcheck.generators.core.values import Array, arrays, numpy_dtype
from relaxcheck.generators.families import every
from relaxcheck.generators.gradients.family import GradientFamily
from relaxcheck.oracles.answer import Bounded, Unsupported
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.independent import ORACLES
from relaxcheck.oracles.reference.estimate import FORMATS
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.measure.quality.section import Figures, Section, Show
from tests.oracles import programs
from tests.oracles.evaluations import evaluations

CASES = 200
"""Cases of each operator and dtype at full size."""

LOOSE = 100
"""A typical bound more than this many times the largest error is a defect, unless reached."""

NEAR = 2.0
"""A bound that an evaluation comes this near counts as reached; inputs made for it have to."""

MOST_UNCONSTRAINED = 0.5
"""More unconstrained elements than this share in the special regime: a family is hardly judged."""

Drawn = Callable[[Sequence[str]], st.SearchStrategy[Program]]

OPERATORS: dict[str, Drawn] = {
    "nn.conv{1,2,3}d_transpose": programs.canonical_conv_transposes,
    "nn.attention": programs.attentions,
    "nn.attention, head dim 64": lambda dtypes: _long_heads(dtypes[0]),
    "nn.attention_var_len": programs.var_len_attentions,
    "matmul": programs.matmuls,
    "add": lambda dtypes: programs.elementwise("add", dtypes),
    "multiply": lambda dtypes: programs.elementwise("multiply", dtypes),
}


def _long_heads(dtype: str) -> st.SearchStrategy[Program]:
    shapes = {"q": (1, 4, 2, 64), "k": (1, 9, 2, 64), "v": (1, 9, 2, 8)}
    inputs = [Input(name, shape, dtype) for name, shape in shapes.items()]
    return st.just(programs.one_node("nn.attention", inputs))


@dataclass(frozen=True, slots=True)
class _Ratios:
    """Error over bound of one case: the largest by any route, and by which; if it is 0 by rule."""

    largest: float
    route: str
    exact: bool


def _ratios(case: Case) -> _Ratios | None:
    """None where there is nothing to hold against a bound: no element, or no constrained one.

    Where the bound is zero everywhere the result has to be exact, and the ratio is zero then.
    """
    values = arrays(case, 0)
    (reference,) = evaluate(case.program, values)
    if not np.isfinite(reference.bound).any():
        return None
    ratios = {
        route: within(actual, reference).ratio for route, actual in _results(case.program, values)
    }
    route = max(ratios, key=lambda name: ratios[name])
    return _Ratios(ratios[route], route, not (reference.bound > 0).any())


def _results(program: Program, values: Mapping[str, Array]) -> list[tuple[str, Array]]:
    results = []
    if program.nodes[0].operator != "nn.attention_var_len":
        results += list(evaluations(program, values))
    for name, oracle in ORACLES.items():
        try:
            results.append((name, oracle(program, values)[0]))
        except Unsupported:
            continue
    return results


def measured(operator: str, dtype: str, count: int) -> dict[str, Any]:
    """The row of ``operator`` and ``dtype`` over about ``count`` cases.

    ``exact`` of its ``cases`` have bounds of zero only: judged, but without a ratio to tell.
    """
    ratios = []
    strategy = programs.cases(OPERATORS[operator]((dtype,)), ("normal",))
    for case in draw(strategy, count, seed=1):
        measured_ratios = _ratios(case)
        if measured_ratios is not None:
            ratios.append(measured_ratios)
    if not ratios:
        return {"operator": operator, "dtype": dtype, "cases": 0, "exact": 0}
    closest = max(ratios, key=lambda each: each.largest)
    typical = [1 / each.largest for each in ratios if each.largest > 0]
    return {
        "operator": operator,
        "dtype": dtype,
        "cases": len(ratios),
        "exact": sum(each.exact for each in ratios),
        "reached": 1 / closest.largest if closest.largest else None,
        "route": closest.route,
        "typical": statistics.median(typical) if typical else None,
        "outside": sum(each.largest > 1 for each in ratios),
    }


def _worst_sum(dtype: str, terms: int = 64) -> dict[str, Any]:
    """A sum of 1 and many halves of its last place, each of which is lost."""
    program = programs.one_node(
        "matmul", [Input("a", (1, terms), dtype), Input("b", (terms, 1), dtype)]
    )
    a = np.full((1, terms), FORMATS[dtype].unit)
    a[0, 0] = 1
    values = {
        "a": a.astype(numpy_dtype(dtype)),
        "b": np.ones((terms, 1), numpy_dtype(dtype)),
    }
    return _worst(f"matmul, {terms} terms: 1 and halves of its last place", program, values, dtype)


def _worst_attention(dtype: str, dim: int = 64) -> dict[str, Any]:
    """Scores whose sums lose as much as they can, up for one key and down for the other."""
    shapes = {"q": (1, 1, 1, dim), "k": (1, 2, 1, dim), "v": (1, 2, 1, 1)}
    program = programs.one_node(
        "nn.attention", [Input(name, shape, dtype) for name, shape in shapes.items()], scale=1.0
    )
    kind = numpy_dtype(dtype)
    q = np.full((1, 1, 1, dim), FORMATS[dtype].unit)
    q[..., 0] = 1
    k = np.stack([np.ones((1, 1, dim)), -np.ones((1, 1, dim))], axis=1)
    v = np.array([1.0, -1.0]).reshape(1, 2, 1, 1)
    values = {name: each.astype(kind) for name, each in (("q", q), ("k", k), ("v", v))}
    return _worst(f"nn.attention, head dim {dim}: the same for both keys", program, values, dtype)


def _worst(name: str, program: Program, values: Mapping[str, Array], dtype: str) -> dict[str, Any]:
    (reference,) = evaluate(program, values)
    ratios = {route: within(each, reference).ratio for route, each in evaluations(program, values)}
    route = max(ratios, key=lambda each: ratios[each])
    reached = 1 / ratios[route] if ratios[route] else None
    return {"inputs": name, "dtype": dtype, "reached": reached, "route": route}


def _unconstrained(count: int) -> list[dict[str, Any]]:
    """The kinds of output elements in the special regime, by family."""
    rows = []
    for family in every(("build",)):
        if isinstance(family, GradientFamily):
            # Their regimes are those of finite values.
            continue
        kinds = {"NaN": 0, "infinite": 0, "unconstrained": 0, "finite": 0}
        for case in draw(cases(family), count, seed=2):
            special = Case(
                case.family, case.program, case.bindings, regime="special", seed=case.seed
            )
            for reference in evaluate(special.program, arrays(special, 0)):
                for kind, number in _kinds(reference).items():
                    kinds[kind] += number
        total = sum(kinds.values())
        shares = {kind: n / max(1, total) for kind, n in kinds.items()}
        rows.append({"family": family.name, "elements": total, **shares})
    return rows


def _kinds(reference: Bounded) -> dict[str, int]:
    unconstrained = np.isinf(reference.bound)
    wide = reference.value.astype(np.float64)
    nan, infinite = np.isnan(wide) & ~unconstrained, np.isinf(wide) & ~unconstrained
    return {
        "NaN": int(nan.sum()),
        "infinite": int(infinite.sum()),
        "unconstrained": int(unconstrained.sum()),
        "finite": int((~(unconstrained | nan | infinite)).sum()),
    }


def measure(share: float, workers: int, show: Show) -> Figures:
    """The rows of all operators and dtypes; in this process, whatever ``workers`` is."""
    count = max(10, round(CASES * share))
    wanted = [(operator, dtype) for operator in OPERATORS for dtype in programs.FLOATS]
    rows = []
    for done, (operator, dtype) in enumerate(wanted):
        show(f"{operator} {dtype}", done / (len(wanted) + 4))
        rows.append(measured(operator, dtype, count))
    worst = [make(dtype) for make in (_worst_sum, _worst_attention) for dtype in programs.FLOATS]
    show("unconstrained elements in the special regime", len(wanted) / (len(wanted) + 4))
    return {"cases": count, "rows": rows, "worst": worst, "special": _unconstrained(count)}


def markdown(figures: Figures) -> str:
    """Three tables: typical cases, worst legal evaluations, and the special regime."""
    lines = [
        f"Bound over largest error, {figures['cases']} drawn cases a row, normal regime:",
        "",
        "| operator | dtype | cases | exact by rule | reached | by | typical (median) |",
        "|---|---|---:|---:|---:|---|---:|",
    ]
    lines += [
        f"| `{row['operator']}` | {row['dtype']} | {row['cases']} | {row['exact']} "
        f"| {_times(row.get('reached'))} | {row.get('route', '')} | {_times(row.get('typical'))} |"
        for row in figures["rows"]
    ]
    lines += [
        *("", "Inputs made for the worst legal evaluation:", ""),
        *("| inputs | dtype | reached | by |", "|---|---|---:|---|"),
    ]
    lines += [
        f"| {row['inputs']} | {row['dtype']} | {_times(row['reached'])} | {row['route']} |"
        for row in figures["worst"]
    ]
    lines += [
        *("", "Classes of output elements in the special regime:", ""),
        *("| family | finite | NaN | infinite | unconstrained |", "|---|---:|---:|---:|---:|"),
    ]
    lines += [
        f"| {row['family']} | "
        + " | ".join(f"{row[kind]:.1%}" for kind in ("finite", "NaN", "infinite", "unconstrained"))
        + " |"
        for row in figures["special"]
    ]
    return "\n".join(lines) + "\n"


def _times(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.3g}"


def missed(figures: Figures) -> list[str]:
    """Rows without cases, outside their bound or typically loose; worst cases far from theirs.

    Of the special regime: families without elements, without a special value, or with few
    constrained elements.
    """
    lines = []
    for row in figures["rows"]:
        name = f"{row['operator']} {row['dtype']}"
        if not row["cases"]:
            lines.append(f"{name}: no cases")
        if row.get("outside"):
            lines.append(f"{name}: {row['outside']} cases outside their bound")
        if (row.get("typical") or 0) > LOOSE and row["reached"] > NEAR:
            lines.append(f"{name}: the typical bound is {row['typical']:.0f} times the error")
    for row in figures["worst"]:
        name, reached = f"{row['inputs']}, {row['dtype']}", row["reached"]
        if reached is None or reached > NEAR:
            lines.append(f"{name}: the bound is {_times(reached)} times the error, not {NEAR:g}")
        elif reached < 1:
            lines.append(f"{name}: outside its bound")
    for row in figures["special"]:
        name = f"{row['family']}, special regime"
        if not row["elements"]:
            lines.append(f"{name}: no elements")
        elif row["finite"] == 1:
            lines.append(f"{name}: every element is finite")
        elif row["unconstrained"] > MOST_UNCONSTRAINED:
            lines.append(f"{name}: {row['unconstrained']:.0%} of the elements are unconstrained")
    return lines


SECTION = Section("tightness", "Tightness of the bounds", measure, markdown, missed)
